"""Which files of a directory Sosie wrote: a list of them, kept in it, so that nobody else's are ever removed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from sosie.errors import UsageError

LISTING = ".sosie"
FORMAT, VERSION = "sosie-output", 1
_NAMED = 3  # files that a message names
_ADVICE = "Move it away, or choose another directory."


def write_listing(directory: Path, run: str | None) -> None:
    """Write the list of the files below a directory, with their sizes; `run` is the key of the run that wrote them.

    >>> import tempfile
    >>> made = Path(tempfile.mkdtemp())
    >>> _ = (made / "kept.txt").write_text("a rose")
    >>> write_listing(made, None)
    >>> check_written(made)
    >>> (made / "notes.txt").touch()
    >>> check_written(made, Path("out"))
    Traceback (most recent call last):
    ...
    sosie.errors.UsageError: out: holds notes.txt, which Sosie did not write. Move it away, or choose another directory.
    """
    files = dict(sorted((name, size) for name, size in _files(directory) if name != LISTING))
    if files:
        said = {"format": FORMAT, "version": VERSION, **({} if run is None else {"run": run}), "files": files}
        (directory / LISTING).write_text(json.dumps(said, indent=0) + "\n", "ascii")


def check_written(directory: Path, called: Path | None = None) -> None:
    """Refuse a directory that holds anything which Sosie did not write, or which was changed since.

    `called` is its name in messages, if another. Outputs of versions without a list are told by their report or
    manifest, and by the names of all their files.
    """
    listed, name = _listed(directory), called or directory
    if listed is None:
        written = _written_without(directory)
        if written is None:
            raise UsageError(f"{name}: was not written by Sosie, so it is not replaced. Choose another directory.")
        _refuse(name, [file for file, _ in _files(directory) if not written(file)], "which Sosie did not write")
        return
    sizes: dict[str, int] = listed["files"]
    found = {file: size for file, size in _files(directory) if file != LISTING}
    _refuse(name, [file for file in found if file not in sizes], "which Sosie did not write")
    changed = [file for file, size in found.items() if sizes[file] != size]
    _refuse(name, changed, "which was changed since Sosie wrote it")


def is_written_by(directory: Path, run: str) -> bool:
    """Whether a directory is the output of a run with this key, and all of it is there."""
    listed = _listed(directory)
    if listed is None or listed.get("run") != run:
        return False
    found = {name: size for name, size in _files(directory) if name != LISTING}
    return bool(found == listed["files"])


def _refuse(directory: Path, names: list[str], why: str) -> None:
    if names:
        names.sort()
        shown = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
        raise UsageError(f"{directory}: holds {shown}, {why}. {_ADVICE}")


def _files(directory: Path) -> Iterator[tuple[str, int]]:
    """Yield the names, from the directory on, and the sizes of all that is no folder; links are not followed."""
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        with os.scandir(os.path.join(directory, prefix)) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(f"{prefix}{entry.name}/")
                else:
                    yield f"{prefix}{entry.name}", entry.stat(follow_symlinks=False).st_size


def _listed(directory: Path) -> dict[str, Any] | None:
    said = _json(directory / LISTING)
    files = said.get("files")
    fits = said.get("format") == FORMAT and said.get("version") == VERSION and isinstance(files, dict)
    return said if fits else None


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


# What versions without a list wrote: by the format of report.json or manifest.json the files that are always there,
# and all names that there may be; a name that ends with a slash stands for all below it.
_OLD: dict[str, tuple[set[str], set[str]]] = {
    "sosie-report": (
        {"report.json", "pairs.parquet", "clusters.parquet"},
        {"report.html", "rejected.jsonl", "kept/", "dropped/", "annotated/", "dropped.tsv", "annotations.tsv"},
    ),
    "sosie-join": ({"report.json", "pairs.parquet"}, {"rejected.jsonl"}),
    "sosie-corpus": ({"manifest.json", "documents.jsonl", "truth.parquet"}, set()),
}
_PARTS = ("signer", "texts", "passages")  # folders of an index


def _written_without(directory: Path) -> Callable[[str], bool] | None:
    """Return which names Sosie wrote to a directory without a list, None if it did not write it."""
    report, manifest = _json(directory / "report.json"), _json(directory / "manifest.json")
    if manifest.get("format") == "sosie-artefact":
        names = {f"{part}{name}" for part in ("", *(f"{each}/" for each in _PARTS)) for name in _named(directory, part)}
        return _one_of({*names, "rejected.jsonl"})
    for said in (report, manifest):
        always, others = _OLD.get(str(said.get("format")), (set(), set()))
        if always and all((directory / name).is_file() for name in always):
            return _one_of(always | others)
    return None


def _named(directory: Path, part: str) -> set[str]:
    """Return the files that the manifest of an artefact names, and itself."""
    manifest = _json(directory / part / "manifest.json")
    files = manifest.get("files")
    ours = manifest.get("format") == "sosie-artefact" and isinstance(files, dict)
    return {"manifest.json", *files} if ours and isinstance(files, dict) else set()


def _one_of(names: Collection[str]) -> Callable[[str], bool]:
    folders = tuple(name for name in names if name.endswith("/"))
    return lambda name: name in names or name == LISTING or (bool(folders) and name.startswith(folders))
