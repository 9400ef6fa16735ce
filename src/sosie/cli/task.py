"""What an index is built for: the task that is named, or that the other options tell, and what they override."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import click

from sosie.cli.kinds import built_with, windows_of
from sosie.cli.options import SHINGLES, F, is_given
from sosie.cli.signer import form_of, signer_of
from sosie.errors import UsageError
from sosie.features.phrases import Phrases
from sosie.features.shingles import Shingles
from sosie.index.registry import AUTO
from sosie.search.entries import Form
from sosie.search.tasks import TASKS, WORDS, Task, task_named
from sosie.search.windows import Windows

PASSAGE = 100  # words of a passage that is indexed
CHARACTERS = 4  # in a shingle, if these are what texts are compared by
SIGNED = ("bits", "weighting", "minima", "rows", "b", "parameters", "keys", "seed", "signer")


class Built(NamedTuple):
    """What an index is built of and by: what makes its rows, what they are, its kind, and what else is read."""

    reader: Any
    form: Form
    kind: str
    reads: list[str]


def task_option(function: F) -> F:
    """Add what an index is for."""
    said = "; ".join(f"{name}: {task.meaning}" for name, task in TASKS.items())
    return click.option(
        "--for",
        "task",
        type=click.Choice(list(TASKS)),
        help=f"What it is for. {said[0].upper()}{said[1:]}. [default: search]",
    )(function)


def built_by(options: dict[str, Any]) -> Built:
    """Return what an index is built of by the options of a command: those that are given win over the task's."""
    task, method = _chosen(options)
    windows = _windows(options, task)
    if method == WORDS:
        form = Form(words=True, windows=windows, texts=options["keep_texts"])
        return Built(Phrases(_shingles(options)), form, WORDS, [])
    options["method"] = method
    spec, signer, reads = signer_of(options, {} if task.signed is None else task.signed._asdict())
    form = Form(keys=form_of(spec, options)["keys"], windows=windows, texts=options["keep_texts"])
    return Built(signer, form, options["kind"] or AUTO, reads)


def _chosen(options: dict[str, Any]) -> tuple[Task, str]:
    """Return the task and the method: options of signatures, without a task, are for duplicates."""
    signed = [name for name in (*SIGNED, *built_with(options)) if is_given(name)]
    if is_given("kind") and options["kind"] not in (WORDS, AUTO):
        signed.append("kind")
    if is_given("queries"):
        signed.append("queries")
    if WORDS in (options["method"], options["kind"]):
        if is_given("method") and options["method"] != WORDS:
            raise UsageError(f"--method {options['method']} makes no words: leave --kind words out")
        if signed:
            spelt = signed[0].removesuffix("s") if signed[0] == "parameters" else signed[0]
            raise UsageError(
                f"--{spelt.replace('_', '-')} is for signatures, and an index of words keeps none: leave one out"
            )
        return task_named(options["task"] or ("passages" if options["passages"] else "search")), WORDS
    if signed or is_given("method"):
        return task_named(options["task"] or "duplicates"), options["method"] or "simhash"
    task = task_named(options["task"] or ("passages" if options["passages"] else "search"))
    return task, task.method


def _shingles(options: dict[str, Any]) -> Shingles:
    """Return what texts are compared by in an index of words."""
    given = {name: options.pop(name) for name in SHINGLES if is_given(name)}
    if given.get("unit", "word") != "word":
        given.setdefault("width", CHARACTERS)
    return replace(Phrases().shingles, **given)


def _windows(options: dict[str, Any], task: Task) -> Windows | None:
    if options["passages"] or task.windows is not None:
        return windows_of(options, PASSAGE if task.windows is None else task.windows.words)
    for name in ("words", "overlap"):
        if is_given(name):
            raise UsageError(f"--{name} is for passages: add --passages, or --for passages")
    return None
