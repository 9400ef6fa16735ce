"""Sosie finds every lookalike in a text collection: near-duplicates, verified, with the recall stated.

The pipeline, stage by stage:

    source  = sosie.Source("corpus/*.jsonl.gz")              # documents, streamed
    result  = sosie.dedup(source, threshold=0.8)             # the whole job: .kept, .dropped, .pairs, .report

    features = sosie.Shingles(width=3).extract(texts)        # what counts as evidence
    sigs     = sosie.Simhash(bits=64).fit().sign(texts)      # features become bits ...
    keys     = sosie.Minhash().fit().keys(texts)             # ... or keys
    index    = sosie.FlatIndex(sigs)                         # where are the near ones?
    hits     = index.search(queries, k=10)                   # top-k; index.within(queries, radius=3)
    pairs    = sosie.join(features, threshold=0.8)           # all pairs: candidates ...
    verified = sosie.verify(pairs, features, threshold=0.8)  # ... and the true similarity of each

    words    = sosie.load_dictionary("de-en")                # how words of two languages translate each other
    links    = sosie.link(german, english, dictionary=words) # who says the same in the other language: .table, .report
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sosie.clusters.components import connected as connected
    from sosie.crosslingual.dictionary import Dictionary as Dictionary
    from sosie.crosslingual.dictionary import load_dictionary as load_dictionary
    from sosie.documents.source import Source as Source
    from sosie.errors import (
        DataError as DataError,
    )
    from sosie.errors import (
        MismatchError as MismatchError,
    )
    from sosie.errors import (
        SosieError as SosieError,
    )
    from sosie.errors import (
        StorageError as StorageError,
    )
    from sosie.errors import (
        UsageError as UsageError,
    )
    from sosie.features.frequencies import DocumentFrequencies as DocumentFrequencies
    from sosie.features.frequencies import TermCounts as TermCounts
    from sosie.features.phrases import Phrases as Phrases
    from sosie.features.shingles import Shingles as Shingles
    from sosie.index.blocks import BlockIndex as BlockIndex
    from sosie.index.files import load_index as load_index
    from sosie.index.flat import FlatIndex as FlatIndex
    from sosie.index.flips import FlipModel as FlipModel
    from sosie.index.keys import KeyIndex as KeyIndex
    from sosie.index.multi import MultiIndex as MultiIndex
    from sosie.index.probe_search import ProbeSearch as ProbeSearch
    from sosie.index.probes import ProbeIndex as ProbeIndex
    from sosie.index.slice_search import SliceSearch as SliceSearch
    from sosie.index.slices import SliceIndex as SliceIndex
    from sosie.index.words import WordIndex as WordIndex
    from sosie.jobs.dedup import Deduplicator as Deduplicator
    from sosie.jobs.dedup import dedup as dedup
    from sosie.jobs.join import join as join
    from sosie.jobs.link import Linker as Linker
    from sosie.jobs.link import link as link
    from sosie.jobs.planning.plan import plan as plan
    from sosie.matches.candidates import Exact as Exact
    from sosie.matches.candidates import Identical as Identical
    from sosie.matches.chunks import Window as Window
    from sosie.matches.reference import Reference as Reference
    from sosie.matches.store.store import SignatureStore as SignatureStore
    from sosie.matches.verify import verify as verify
    from sosie.planner.plan import Plan as Plan
    from sosie.report.deduplication import Deduplication as Deduplication
    from sosie.report.links import Links as Links
    from sosie.search.files import load_text_index as load_text_index
    from sosie.search.text_index import TextIndex as TextIndex
    from sosie.signatures.files import load_signatures as load_signatures
    from sosie.signatures.files import load_signer as load_signer
    from sosie.signatures.files import save_signatures as save_signatures
    from sosie.signatures.fuzzy import FuzzyFingerprint as FuzzyFingerprint
    from sosie.signatures.minhash import Minhash as Minhash
    from sosie.signatures.projection import RandomProjection as RandomProjection
    from sosie.signatures.pstable import PStable as PStable
    from sosie.signatures.simhash import Simhash as Simhash
    from sosie.signatures.svd import SvdEmbedding as SvdEmbedding
    from sosie.signatures.threshold import ThresholdEmbedding as ThresholdEmbedding
    from sosie.signatures.topsig import TopSig as TopSig
    from sosie.storage.output import Output as Output
    from sosie.text.passages import passages as passages
    from sosie.types import (
        Bags as Bags,
    )
    from sosie.types import (
        Clusters as Clusters,
    )
    from sosie.types import (
        Features as Features,
    )
    from sosie.types import (
        Keys as Keys,
    )
    from sosie.types import (
        Matches as Matches,
    )
    from sosie.types import (
        Pairs as Pairs,
    )
    from sosie.types import (
        Signatures as Signatures,
    )
    from sosie.types import (
        VerifiedPairs as VerifiedPairs,
    )

__version__ = "0.1.0"

_HOMES = {  # beside the classes of indexes and of specs, which have tables of their own
    "Bags": "sosie.types",
    "Clusters": "sosie.types",
    "DataError": "sosie.errors",
    "Deduplication": "sosie.report.deduplication",
    "Deduplicator": "sosie.jobs.dedup",
    "Dictionary": "sosie.crosslingual.dictionary",
    "DocumentFrequencies": "sosie.features.frequencies",
    "Exact": "sosie.matches.candidates",
    "Features": "sosie.types",
    "FlipModel": "sosie.index.flips",
    "Identical": "sosie.matches.candidates",
    "Keys": "sosie.types",
    "Linker": "sosie.jobs.link",
    "Links": "sosie.report.links",
    "Matches": "sosie.types",
    "MismatchError": "sosie.errors",
    "Output": "sosie.storage.output",
    "Reference": "sosie.matches.reference",
    "Pairs": "sosie.types",
    "Phrases": "sosie.features.phrases",
    "Plan": "sosie.planner.plan",
    "Shingles": "sosie.features.shingles",
    "SignatureStore": "sosie.matches.store.store",
    "Signatures": "sosie.types",
    "SosieError": "sosie.errors",
    "Source": "sosie.documents.source",
    "StorageError": "sosie.errors",
    "TextIndex": "sosie.search.text_index",
    "TermCounts": "sosie.features.frequencies",
    "UsageError": "sosie.errors",
    "VerifiedPairs": "sosie.types",
    "Window": "sosie.matches.chunks",
    "connected": "sosie.clusters.components",
    "dedup": "sosie.jobs.dedup",
    "join": "sosie.jobs.join",
    "link": "sosie.jobs.link",
    "load_dictionary": "sosie.crosslingual.dictionary",
    "load_index": "sosie.index.files",
    "load_signatures": "sosie.signatures.files",
    "passages": "sosie.text.passages",
    "plan": "sosie.jobs.planning.plan",
    "load_signer": "sosie.signatures.files",
    "load_text_index": "sosie.search.files",
    "save_signatures": "sosie.signatures.files",
    "verify": "sosie.matches.verify",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: `import sosie` itself loads the standard library only."""
    if name == "__all__":
        return [*_homes(), "__version__"]
    if name == "spark":
        return import_module("sosie.spark")
    home = _HOMES.get(name) or _homes().get(name)
    if home is None:
        raise AttributeError(f"module 'sosie' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted([*_homes(), "__version__"])


def _homes() -> dict[str, str]:
    """Return where every public name lives: those above, and those of the tables of indexes and of specs."""
    from sosie.index.registry import HOMES
    from sosie.signatures.registry import SPECS

    return {**_HOMES, **HOMES, **{name: home for home, name in SPECS.values()}}
