"""Files whose names leave open what they are: their beginnings decide, and those that are no documents are left out."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence

from sosie.documents.format import NoDocumentsError
from sosie.documents.formats import format_of
from sosie.documents.input import Input
from sosie.errors import DataError, UsageError

_log = logging.getLogger("sosie")
_NAMED = 3  # files that a message names


def settled(inputs: list[Input], named: Collection[str], texts: Sequence[str]) -> list[Input]:
    """Return the inputs as their beginnings say they are; `named` are the paths that were given themselves.

    Where no file of its kind holds documents, one that was found in a folder is passed over with a warning: it is there
    for another purpose. Where others do, it may be damaged, so that it is an error, or read as far as it can be.
    """
    outcomes: list[Input | NoDocumentsError] = []
    for source in inputs:
        try:
            outcomes.append(format_of(source).settle(source, texts))
        except NoDocumentsError as error:
            outcomes.append(error)
    kinds = [source.format for source in inputs]
    holding = {kind for kind, outcome in zip(kinds, outcomes, strict=True) if isinstance(outcome, Input)}
    found: list[Input] = []
    strays: list[str] = []
    for source, outcome in zip(inputs, outcomes, strict=True):
        if isinstance(outcome, Input):
            found.append(outcome)
        elif source.path not in named and source.format not in holding:
            strays.append(f"{source.path} ({outcome})")
        elif outcome.source is not None:
            found.append(outcome.source)
        else:
            advice = "" if source.path in named else " Leave it out with --exclude if it is there for another purpose."
            raise DataError(f"{source.path}: {outcome}.{advice}")
    _tell(strays, bool(found))
    return found


def _tell(strays: list[str], are_others: bool) -> None:
    if not strays:
        return
    shown = ", ".join(strays[:_NAMED]) + (f" and {len(strays) - _NAMED:,} more" if len(strays) > _NAMED else "")
    if not are_others:
        raise UsageError(f"no file holds documents: {shown}. Check --text-column, or name what is to be read.")
    one = len(strays) == 1
    files = "1 file holds no documents and is" if one else f"{len(strays):,} files hold no documents and are"
    _log.warning("%s passed over: %s. Name what is to be read, or --exclude the rest.", files, shown)
