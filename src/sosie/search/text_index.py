"""An index of texts: an index of any kind, with what makes its rows of texts and, on request, these texts."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import pyarrow as pa

from sosie.documents.rejects import RejectLog
from sosie.documents.source import Source
from sosie.errors import MismatchError, UsageError
from sosie.features.phrases import Phrases
from sosie.features.shingles import Shingles
from sosie.index.answers import lowest, nearest, without_self
from sosie.index.auto import Asking, Chosen, choose_index
from sosie.index.hamming import HammingIndex
from sosie.index.keys import KeyIndex
from sosie.index.registry import AUTO, KINDS, check_kind, kind_of, make_index
from sosie.index.words import WordIndex
from sosie.search.entries import Entries, Form, sign_entries
from sosie.search.estimates import AnyIndex, Reader, estimated_similarity, margin_of_error
from sosie.search.tasks import reader_for, task_named
from sosie.search.texts import Texts
from sosie.search.windows import Places, Windows, documents_of, most_passages, passages_of
from sosie.shown import as_html, counted
from sosie.signatures.signer import Signer
from sosie.storage.manifest import checksum_of
from sosie.storage.output import OutputDirectory
from sosie.storage.room import Room
from sosie.types import F64, Bags, Keys, Matches, Signatures

SIGNER, TEXTS, PASSAGES = PARTS = ("signer", "texts", "passages")  # folders beside the files of the index
_HELD = {Signatures: "signatures", Keys: "keys", Bags: "words"}


class TextIndex:
    """An index that reads what it is asked like its own rows: what `sosie index` writes and `sosie search` opens.

    Its rows are documents or, with `places`, passages of documents, whose ids are `document#number`. Without a signer
    it takes signatures and keys only; with `texts` it can show what it finds. `index` is the index itself.

    >>> index = TextIndex.of(["the cat sat on the mat", "a dog ran off"], ids=["x", "y"])
    >>> found = index.search(["Which cat sat?"], k=1)
    >>> found.ids.to_pylist(), found.similarities.round(2).tolist()
    (['x'], [0.58])

    Any index does, with the signer of its rows:

    >>> from sosie.index.flat import FlatIndex
    >>> from sosie.signatures.simhash import Simhash
    >>> signer = Simhash().fit()
    >>> index = TextIndex(FlatIndex(signer.sign(["the cat sat on the mat", "a dog ran off"], ids=["x", "y"])), signer)
    >>> index.search(index.sign(["The CAT sat on the mat!"]), k=1).ids.to_pylist()
    ['x']
    """

    def __init__(
        self, index: AnyIndex, signer: Reader | None = None, texts: Texts | None = None, places: Places | None = None
    ) -> None:
        if signer is not None and index.digest not in (None, signer.digest):
            raise MismatchError(f"the rows were made by {index.digest}, not by the signer {signer.digest}")
        self.index = index
        self.texts = texts
        self.places = places
        self.chosen: Chosen | None = None
        self._signer = signer
        self._lock = threading.Lock()

    @classmethod
    def build(
        cls,
        entries: Entries,
        signer: Reader | None,
        kind: str | Chosen = AUTO,
        options: Mapping[str, Any] | None = None,
    ) -> TextIndex:
        """Build an index of a kind, with the options of that kind (see `index.registry`), of entries.

        The kind "auto" is the one that holds them; of signatures, the one that is the fastest for what will be asked
        (see `index.auto`): the nearest rows or, with the option `radius`, all within it. `chosen` says which, and why.
        """
        texts = None if entries.texts is None else Texts([entries.texts])
        if not isinstance(kind, Chosen):
            held = _HELD[type(entries.signed)]
            check_kind(kind, holds=held, options=options or {})
            if kind != AUTO or not isinstance(entries.signed, Signatures):
                made = make_index(held if kind == AUTO else kind, entries.signed, options or {})
                return cls(made, signer, texts, entries.places)
            kind = choose_index(entries.signed, Asking(radius=(options or {}).get("radius")))
        assert isinstance(entries.signed, Signatures), "kinds are chosen for signatures"
        index = cls(kind.index(entries.signed), signer, texts, entries.places)
        index.chosen = kind
        return index

    @classmethod
    def of(
        cls,
        texts: Any,
        ids: Any = None,
        *,
        task: str = "search",
        kind: str | None = None,
        keep_texts: bool = False,
        threads: int | None = None,
    ) -> TextIndex:
        """Build an index of texts in memory, or of a `Source`, for a task: "search", "duplicates" or "passages".

        "search" finds texts by some of their words, "duplicates" those that are near as a whole, and "passages" where
        in a text it is. Texts without words are no rows. The `kind` follows from the task; of signatures it is "auto",
        the one that suits the rows best.
        """
        chosen, reader = task_named(task), reader_for(task)
        form = Form(words=isinstance(reader, Phrases), windows=chosen.windows, texts=keep_texts)
        with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
            room = Room(scratch, threads=threads)
            entries = sign_entries(_source(texts, ids).batches(threads), reader, form, room)
            return cls.build(entries, reader, kind or chosen.kind)

    def __len__(self) -> int:
        return len(self.index)

    def __repr__(self) -> str:
        said = ", ".join(value for _, value in self._lines())
        return f"TextIndex({said}; {self.index!r})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return as_html("TextIndex", [*self._lines(), (type(self.index).__name__, repr(self.index))])

    def _lines(self) -> list[tuple[str, str]]:
        what = "passage" if self.places is not None else "document"
        spec = getattr(self._signer, "spec", self._signer)
        signer = f"signed by {getattr(spec, 'method', type(spec).__name__)}" if self.has_signer else "without a signer"
        lines = [("rows", counted(len(self), what)), ("signer", signer)]
        return lines if self.texts is None else [*lines, ("texts", "with their texts")]

    @property
    def has_signer(self) -> bool:
        """Whether texts can be added and looked up, and not only signatures or keys."""
        return self._signer is not None

    @property
    def signer(self) -> Reader:
        """What makes rows of texts, of those that are added and those that are asked: a signer, or phrases."""
        if self._signer is None:
            raise UsageError(
                "the index does not know how its rows were signed: give signatures, or build it by `sosie index`"
            )
        return self._signer

    @property
    def shingles(self) -> Shingles:
        """What texts are compared by."""
        signer = self.signer
        return signer.shingles if isinstance(signer, Phrases) else signer.spec.shingles

    @property
    def form(self) -> Form:
        """What entries have to be that are added."""
        held = {"keys": isinstance(self.index, KeyIndex), "words": isinstance(self.index, WordIndex)}
        return Form(**held, windows=_windows_of(self.places), texts=self.texts is not None)

    @property
    def query_form(self) -> Form:
        """What entries have to be that are looked up: with the sums behind their bits where that helps."""
        signer, kind = self.signer, KINDS[kind_of(self.index)]
        volatile = kind.volatility and isinstance(signer, Signer) and signer.spec.volatile
        return replace(self.form, volatility=volatile, texts=True)

    def sign(self, texts: Any, ids: Any = None, *, threads: int | None = None) -> Entries:
        """Sign texts in memory like the rows of the index, to be looked up or added."""
        with tempfile.TemporaryDirectory(prefix="sosie-") as scratch:
            return self.sign_source(_source(texts, ids), Room(scratch, threads=threads))

    def sign_source(self, source: Source, room: Room) -> Entries:
        """Sign the documents of a source like the rows of the index; the entries have their texts."""
        return sign_entries(source.batches(room.threads), self.signer, self.query_form, room)

    def add(self, entries: Entries) -> None:
        """Append rows, found at once; a known id raises `MismatchError`, and nothing has changed."""
        self._check(entries)
        if _windows_of(self.places) != _windows_of(entries.places):
            raise MismatchError("rows are passages here and not there, or cut in another way: they do not mix")
        if self.texts is not None and entries.texts is None:
            raise MismatchError("the index keeps the texts of its rows: add documents, not signatures")
        added: Any = entries.signed
        with self._lock:
            if not added.numbered:
                added = replace(added, ids=_cast(added.ids, self.index.row_ids.type))
            before = self.texts, self.places
            try:  # whoever searches meanwhile may find the rows as soon as they are there, and needs their texts
                if self.texts is not None and entries.texts is not None:
                    self.texts = self.texts.followed_by(entries.texts)
                if self.places is not None and entries.places is not None:
                    self.places = self.places.followed_by(entries.places)
                self.index.add(added)
            except BaseException:
                self.texts, self.places = before
                raise

    def remove(self, ids: Iterable[Any]) -> int:
        """Remove rows by their ids, passages by those of their documents; return how many rows went.

        Integers may be given as text. An unknown id raises `MismatchError`, and nothing has changed.
        """
        wanted = list(ids)
        with self._lock:
            known = self.index.row_ids
            if pa.types.is_integer(known.type):
                wanted = [_integer(each) for each in wanted]
            if self.places is not None:
                wanted = passages_of(known.present, wanted)
            rows = known.rows(wanted)
            self.index.remove(wanted)
            if self.texts is not None:
                self.texts = self.texts.without(rows)
            return len(rows)

    def search(
        self,
        queries: Any,
        k: int = 10,
        *,
        effort: Any = None,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Matches:
        """Return the k nearest rows of each query; with `exclude_self`, none that is the query or of its document.

        Queries are texts, or what `sign` returns. Of an index of words, matches are the k most similar rows, fewer
        where fewer share a word with the query; of an index of keys, the k rows that agree with the query in most
        tables. `effort` is how far an approximate index goes, if not as it was built.
        """
        queries = self._entries(queries, threads)
        asked = self._check(queries)
        if k < 1:
            raise UsageError(f"k must be at least 1, got {k}")
        if isinstance(self.index, KeyIndex):
            if effort is not None:
                raise UsageError(f"an index of keys finds all that share one: it takes no effort, got {effort!r}")
            found = self.index.candidates(asked, threads=threads)
            return nearest(self._others(found, asked.ids) if exclude_self else found, k)
        how: dict[str, Any] = {"threads": threads}
        if not isinstance(self.index, WordIndex):
            how["effort"] = effort
        elif effort is not None:
            raise UsageError(f"an index of words is exact: it takes no effort, got {effort!r}")
        if not exclude_self or self.places is None:
            return self.index.search(asked, k, exclude_self=exclude_self, **how)
        own = most_passages(self.index.row_ids.present, asked.ids)
        found = self.index.search(asked, k + own, **how)
        return nearest(self._others(found, asked.ids), k)

    def within(
        self,
        queries: Any,
        radius: int,
        *,
        first: bool = False,
        effort: Any = None,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Matches:
        """Return all rows at most `radius` away from each query; with `first`, only the one with the lowest row."""
        asked = self._check(self._entries(queries, threads))
        if not isinstance(self.index, HammingIndex):
            held = _HELD[type(asked)]
            raise UsageError(
                f"{held} have no distance in bits: ask an index of {held} for the k best instead of a radius, or build "
                "one for duplicates"
            )
        if not exclude_self or self.places is None:
            return self.index.within(
                asked, radius, first=first, effort=effort, exclude_self=exclude_self, threads=threads
            )
        found = self._others(self.index.within(asked, radius, effort=effort, threads=threads), asked.ids)
        return lowest(found) if first else found

    def any_within(
        self,
        queries: Any,
        radius: int,
        *,
        effort: Any = None,
        exclude_self: bool = False,
        threads: int | None = None,
    ) -> Matches:
        """Return for each query one row at most `radius` away, whichever is met first, or none."""
        if not isinstance(self.index, HammingIndex) or (exclude_self and self.places is not None):
            how: dict[str, Any] = {"effort": effort, "exclude_self": exclude_self, "threads": threads}
            return self.within(queries, radius, first=True, **how)
        asked = self._check(self._entries(queries, threads))
        return self.index.any_within(asked, radius, effort=effort, exclude_self=exclude_self, threads=threads)

    def save(self, directory: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write everything to a directory that appears whole; `load_text_index` opens it, and `load_index` the index.

        The directory must not exist or be empty; `overwrite` replaces one that Sosie wrote.
        """
        with OutputDirectory(directory, overwrite) as output:
            self.write(output)

    def write(self, output: OutputDirectory) -> None:
        """Write everything into an output that holds nothing yet; rejects logged in its scratch folder go with it."""
        with self._lock:
            if self.has_signer:
                self.signer.save(output.path / SIGNER)
            if self.texts is not None:
                self.texts.save(output.path / TEXTS, output.scratch)
            if self.places is not None:
                self.places.save(output.path / PASSAGES)
            written = [part for part in PARTS if (output.path / part).exists()]
            self.index.write(output.path, {part: checksum_of(output.path / part, part) for part in written})
            if (output.scratch / RejectLog.name).exists():
                os.rename(output.scratch / RejectLog.name, output.path / RejectLog.name)

    def similarity(self, distances: Any) -> F64 | None:
        """Return the similarity that each distance is an estimate of, to four digits; None without a signer that knows.

        Estimates below 0 are 0.
        """
        return estimated_similarity(self.index, self._signer, distances)

    def margin(self, distances: Any) -> F64 | None:
        """Return how far estimates of the similarity are off at most, in 95 of 100 cases; None where there are none."""
        return margin_of_error(self.index, self._signer, distances)

    def _entries(self, queries: Any, threads: int | None) -> Entries:
        """Return texts as entries; entries are as they are."""
        if isinstance(queries, Entries):
            return queries
        return self.sign([queries] if isinstance(queries, str) else queries, threads=threads)

    def _check(self, entries: Entries) -> Any:
        """Return signatures for an index of signatures, keys for one of keys, and bags for one of words."""
        held, given = KINDS[kind_of(self.index)].holds, _HELD[type(entries.signed)]
        if held != given:
            raise MismatchError(f"the index holds {held}, and these are {given}: sign both the same way")
        return entries.signed

    def _others(self, found: Matches, ids: Any) -> Matches:
        """Leave out the rows that are the query itself, or a passage of its document."""
        if self.places is None:
            return without_self(found, ids)
        others = without_self(replace(found, ids=documents_of(found.ids)), documents_of(ids))
        return replace(others, ids=self.index.row_ids.of(others.rows))


def _source(texts: Any, ids: Any) -> Source:
    """Return texts in memory, with their ids or numbered, as a source."""
    if isinstance(texts, Source):
        if ids is not None:
            raise UsageError("a Source brings its ids: leave ids out, or name its id_column")
        return texts
    columns = {"text": pa.array(texts, pa.large_string()) if isinstance(texts, list | tuple) else texts}
    return Source(pa.table(columns if ids is None else {"id": ids, **columns}))


def _windows_of(places: Places | None) -> Windows | None:
    return None if places is None else places.windows


def _cast(ids: Any, kind: Any) -> Any:
    """Return ids as others are: integers of one width, and strings with one kind of offsets, are ids alike."""
    if pa.types.is_integer(ids.type) != pa.types.is_integer(kind):
        return ids
    try:
        return ids.cast(kind)
    except pa.ArrowInvalid:
        return ids


def _integer(item: Any) -> int:
    try:
        return int(item)
    except ValueError as error:
        raise MismatchError(f"no row has the id {item!r}: the ids of the index are integers") from error
