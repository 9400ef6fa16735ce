"""`sosie warm`: compile all kernels, so that no later command has to."""

from __future__ import annotations

import click

from sosie.cli.options import run_options
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.jobs.warm import warm


@click.command("warm")
@run_options
def command(threads: int | None, quiet: bool, as_json: bool) -> None:
    """Compile the kernels of all commands for this machine, once: no other command has to wait for that any more.

    They are kept under NUMBA_CACHE_DIR, or else in the user's cache folder.
    """
    with progress(quiet or as_json) as shown:
        done = warm(threads=threads, progress=shown)
    if as_json:
        say_json(done.to_dict())
    elif not quiet:
        say(
            f"{done.compiled:,} kernels compiled in {done.seconds:.1f} s, {done.kernels - done.compiled:,} before",
            f"Kept in {done.folder}" if done.folder else "Kept nowhere: no folder for them can be written",
        )
