"""What all tests share: the oracles can be imported, and Hypothesis takes as long as a loaded machine needs."""

import sys
from pathlib import Path

from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent.parent))  # `from tests import oracle`, however pytest is started

settings.register_profile("sosie", deadline=None)
settings.load_profile("sosie")
