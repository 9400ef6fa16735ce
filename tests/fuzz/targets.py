"""The table of targets: DOCUMENTS and PARALLEL are files from anyone, INDEXES and ARTEFACTS what Sosie wrote itself."""

from __future__ import annotations

from tests.fuzz.artefacts import dictionaries, index_target, signatures, signers, text_indexes
from tests.fuzz.documents import Documents
from tests.fuzz.formats import FORMATS
from tests.fuzz.parallel import PARALLEL_FILES, ParallelFiles
from tests.fuzz.results import CheckpointFolders, LinkResults, Results, TruthFiles
from tests.fuzz.stores import Stores
from tests.fuzz.target import Target
from tests.fuzz.word_pairs import WordPairs

KINDS = ("flat", "flat-numbered", "blocks", "multi", "probes", "probes-flips", "slices", "keys", "words")

DOCUMENTS: dict[str, Target] = {name: Documents(files) for name, files in FORMATS.items()}
PARALLEL: dict[str, Target] = {name: ParallelFiles(files) for name, files in PARALLEL_FILES.items()}
INDEXES: dict[str, Target] = {**{f"index-{kind}": index_target(kind) for kind in KINDS}, "text-index": text_indexes()}
ARTEFACTS: dict[str, Target] = {
    "signatures": signatures(),
    "signer": signers(),
    "truth": TruthFiles(),
    "results": Results(),
    "links": LinkResults(),
    "checkpoints": CheckpointFolders(),
    "store": Stores(),
    "dictionary": dictionaries(),
    "word-pairs": WordPairs(),
}
TARGETS = {**DOCUMENTS, **PARALLEL, **INDEXES, **ARTEFACTS}
GROUPS = {"documents": DOCUMENTS, "parallel": PARALLEL, "indexes": INDEXES, "artefacts": ARTEFACTS}
