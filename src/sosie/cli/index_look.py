"""Look at an index: what its manifests say, and whether every file is as it was written."""

from __future__ import annotations

import json
from typing import Any

import click

from sosie.cli.options import print_options
from sosie.search.files import describe_index, load_text_index
from sosie.search.text_index import PASSAGES, SIGNER, TEXTS


@click.command("info")
@click.argument("directory", type=click.Path(), metavar="DIR")
@print_options
def info(directory: str, quiet: bool, as_json: bool) -> None:
    """Say what the index in DIR is: kind, rows, bits, how its rows were signed, and sizes. Nothing else is read."""
    said = describe_index(directory)
    if as_json:
        click.echo(json.dumps(said))
    elif not quiet:
        click.echo("\n".join(f"{name:>12}: {value}" for name, value in _lines(said)))


@click.command("verify")
@click.argument("directory", type=click.Path(), metavar="DIR")
@print_options
def verify(directory: str, quiet: bool, as_json: bool) -> None:
    """Check every file of the index in DIR: sizes, checksums, and whether everything fits together.

    Damage is an error that names the file, with exit code 1.
    """
    index = load_text_index(directory)
    parts = {SIGNER: index.has_signer, TEXTS: index.texts is not None, PASSAGES: index.places is not None}
    checked = ["index", *(name for name, there in parts.items() if there)]
    report = {"rows": len(index), "removed": len(index.index.row_ids) - len(index), "checked": checked}
    if as_json:
        click.echo(json.dumps(report))
    elif not quiet:
        click.echo(f"{directory}: {', '.join(checked)} checked, {len(index):,} rows; everything is as it was written")


def _lines(said: dict[str, Any]) -> list[tuple[str, str]]:
    lines = [("kind", f"{said['kind'] or '?'} ({said['class']}, format {said['version']})")]
    lines.append(("rows", f"{said['rows']:,}" + (f", {said['removed']:,} removed" if said["removed"] else "")))
    lines.append(("ids", said["ids"]))
    lines += [(name, f"{said[name]:,}") for name in ("bits", "tables") if name in said]
    lines += [(name.replace("_", " "), str(value)) for name, value in said["parameters"].items() if value is not None]
    lines.append(("digest", said["digest"] or "unknown"))
    spec = said["spec"]
    lines.append(("signer", json.dumps(spec) if spec else "none: it takes signatures only"))
    if said["passages"]:
        lines.append(
            ("passages", "of {words:,} words, of which neighbours share {overlap:,}".format(**said["passages"]))
        )
    return lines + [(f"{name} size", f"{size:,} bytes") for name, size in said["bytes"].items() if size]
