"""HOW DOES IT PERSIST? Whole or not at all, checked before it is used."""

from sosie.storage.manifest import read_artefact, write_artefact
from sosie.storage.output import Output, OutputDirectory
from sosie.storage.spill import Spill

__all__ = ["Output", "OutputDirectory", "Spill", "read_artefact", "write_artefact"]
