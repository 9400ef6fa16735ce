"""What `auto` does: the method of a de-duplication or a join, by what it costs and how much memory there is.

No other place resolves `auto`. What a method needs is counted here, too, and refused where it cannot fit.
"""

from __future__ import annotations

from sosie.errors import UsageError
from sosie.features.weighting import FITTED
from sosie.jobs.parameters import DedupParameters
from sosie.matches.candidates import Exact, Identical, Method
from sosie.matches.join import SignatureJoin
from sosie.matches.sets.similarity import Similarity
from sosie.planner.choose import choose
from sosie.planner.facts import Facts
from sosie.planner.machine import load_machine
from sosie.planner.wish import Wish
from sosie.signatures.minhash import Minhash
from sosie.signatures.simhash import Simhash
from sosie.storage.resident import physical_memory
from sosie.storage.room import IN_MEMORY
from sosie.storage.size import show_size

SIMHASH_BITS = 256
SPILL = IN_MEMORY  # bytes of features, and of keys, beyond which they are kept on disk
FEATURE_BYTES = 12  # a hash and a tag
POSTING_BYTES = 32  # what the exact join keeps for each feature of a prefix
DOCUMENT_BYTES = 160  # what is kept for each document, whatever the method
FREQUENCY_BYTES = 32  # what counting document frequencies takes for each feature, at most
FIXED_BYTES = 600_000_000  # the program itself, and what is under way on threads: the least limit
BUSY_BYTES = 250_000_000  # of these, what is under way where there is enough to do
BUSY_FEATURE_BYTES = 29  # ... for each feature, where there is not


def choose_method(job: DedupParameters, features: int, documents: int, memory: int | None = None) -> Method:
    """Resolve a method's name; "auto" is exact where its lists fit into half of the memory, else by signatures.

    Signatures are minhash for sets and simhash for weights; containment has none. Raises where `memory` is given
    and too little for what every method holds, for statistics, or for the lists of the exact join.
    """
    held = held_bytes(features, documents)
    if memory is not None:
        _check_fits(job, held, features, documents, memory)
    if not isinstance(job.method, str):
        return job.method
    name = job.method
    if name == "identical":
        return Identical()
    lists = list_bytes(job, features, documents)
    if name == "auto":
        free = physical_memory() / 2 if memory is None else min(memory / 2, memory - held)
        fits = lists < free or job.similarity == "containment"
        name = "exact" if fits else "simhash" if job.weighted else "minhash"
    if name == "exact":
        if memory is not None and held + lists > memory:
            needed, other = show_size(held + lists), "" if job.similarity == "containment" else ", or use minhash"
            raise UsageError(f"the lists of the exact join need about {needed} of memory: allow more{other}")
        return Exact(shingles=job.shingles)
    if name == "minhash":
        jaccard = Similarity(job.similarity).least_jaccard(job.threshold)
        return Minhash.for_threshold(float(jaccard), shingles=job.shingles)
    return Simhash(bits=SIMHASH_BITS, weighting=job.weighting, shingles=job.shingles)


def choose_join(rows: int, bits: int, radius: int) -> SignatureJoin:
    """Return how all pairs of signatures are found: by block tables, or by comparing all with all, as the planner says.

    >>> choose_join(1_000_000, 64, 3), choose_join(1_000_000, 256, 53)
    ('blocks', 'brute')
    """
    if not rows:
        return "brute"
    plan = choose(Wish(task="join", rows=rows, bits=bits, radius=radius), Facts(), load_machine())
    return "blocks" if plan.chosen is not None and plan.chosen.method == "blocks join" else "brute"


def list_bytes(job: DedupParameters, features: int, documents: int) -> int:
    """Return about how much memory the lists of the exact join take."""
    threshold = float(job.threshold)
    indexed = {"jaccard": 1 - threshold, "cosine": 1 - threshold**2, "containment": 1.0}[job.similarity]
    return round(POSTING_BYTES * (indexed * features + documents))


def held_bytes(features: int, documents: int) -> int:
    """Return about how much memory a run takes, but for the lists of the exact join; a small one is never as busy.

    >>> held_bytes(80_000, 1_000), held_bytes(80_000_000, 1_000_000)
    (352480000, 760000000)
    """
    idle = max(BUSY_BYTES - BUSY_FEATURE_BYTES * features, 0)
    return FIXED_BYTES - idle + DOCUMENT_BYTES * documents


def in_memory(limit: int | None) -> int:
    """Return how many bytes of one array stay in memory, given a limit for the whole process."""
    return SPILL if limit is None else min(SPILL, limit // 16)


def check_limit(memory: int | None) -> None:
    """Refuse a limit that no run keeps to."""
    if memory is not None and memory < FIXED_BYTES:
        raise UsageError(f"{show_size(memory)} of memory are too little: allow {show_size(FIXED_BYTES)} or more")


def _check_fits(job: DedupParameters, held: int, features: int, documents: int, memory: int) -> None:
    """Raise if memory is too little for any run, for what every method holds, or for the statistics of weights."""
    check_limit(memory)
    if held > memory:
        needed = show_size(held)
        raise UsageError(f"{documents:,} documents need about {needed} of memory: allow more, or split them")
    counted = held + FREQUENCY_BYTES * features
    if job.weighting in FITTED and counted > memory:
        needed = f"{job.weighting} may need {show_size(counted)} of memory to count {features:,} features"
        raise UsageError(f"{needed}: allow more, or weigh by tf")
