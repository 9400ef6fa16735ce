"""HOW IS TEXT READ?"""

from sosie.text.column import TextColumn, as_column
from sosie.text.tables import UNICODE_VERSION
from sosie.text.words import fold, words

__all__ = ["UNICODE_VERSION", "TextColumn", "as_column", "fold", "words"]
