"""`sosie evaluate links`: where the true links are among those that `sosie link` wrote."""

from __future__ import annotations

from typing import Any

import click

from sosie.cli.options import column_options, run_options, source_of
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.errors import UsageError
from sosie.evaluation.links import THRESHOLD, LinkAgreement, load_links
from sosie.jobs.evaluate_links import LinkEvaluation


@click.command("links")
@click.argument("directory", type=click.Path(), metavar="OUT")
@click.argument("inputs", nargs=-1, metavar="[INPUT INPUT]")
@click.option(
    "--truth",
    type=click.Path(),
    required=True,
    help="True pairs: TSV, CSV, JSONL or Parquet, columns a and b or the first two.",
)
@click.option(
    "--threshold",
    type=float,
    metavar="COSINE",
    help=f"Least similarity of a link that counts. [default: that of the report, else {THRESHOLD}]",
)
@column_options
@run_options
def links(directory: str, inputs: tuple[str, ...], **options: Any) -> None:
    """Measure how good the links in OUT are, a directory that `sosie link` wrote, beside true pairs.

    P@1, P@10 and MRR say at which rank the true links are, over all documents that the truth names on its left side;
    recall and precision are those of the links from the threshold on. The bounds say what signatures of 1000, 2000 and
    3000 bits would find of the true links. With INPUT, both collections that were linked, ids of the truth that none of
    their documents has are an error.
    """
    if len(inputs) not in (0, 2):
        raise UsageError(f"name both collections that were linked, the left one first, or neither, not {len(inputs)}")
    opened = load_links(directory)
    job = LinkEvaluation(truth=options["truth"], threshold=options["threshold"])
    sides = [source_of([path], {**options, "on_error": "skip"}) for path in inputs]
    documents = (sides[0], sides[1]) if sides else None
    with progress(options["quiet"] or options["as_json"]) as shown:
        found = job.run(opened, documents, threads=options["threads"], progress=shown)
    if options["as_json"]:
        say_json({"links": directory, **found.to_dict()})
    elif not options["quiet"]:
        say(*_lines(found.truth, opened.threshold))


def _lines(found: LinkAgreement, written: float | None) -> list[str]:
    """Say what was measured; `written` is the threshold from which links were written."""
    pairs, asked = found.pairs, f"{found.asked:,} documents"
    lines = [
        f"{found.asked:>12,} documents named in the truth, {found.unlinked:,} of them without any link",
        f"{found.precision_at_1:>12.4f} P@1: the first link of {found.first:,} of {asked} is true",
        f"{found.precision_at_10:>12.4f} P@10: one of the first ten of {found.among_ten:,} is",
        f"{found.reciprocal:>12.4f} MRR: the mean of 1 / rank of the first true link",
        f"{pairs.recall:>12.4f} recall from {found.threshold:g} on: {pairs.right:,} of {pairs.true:,} true pairs found",
        f"{pairs.precision:>12.4f} precision: {pairs.right:,} of {pairs.found:,} links of these documents true",
    ]
    lines += [
        f"{'unknown' if bound.recall is None else f'{bound.recall:.4f}':>12} of these to be expected within"
        f" {bound.radius:,} of {bound.bits:,} bits"
        for bound in found.bounds
    ]
    if found.ranks < 10:
        lines.append(
            f"Note: no document has more than {found.ranks} links: P@10 and MRR know no rank beyond."
            if found.ranks
            else "Note: there are no links at all."
        )
    if written is not None and found.threshold < written:
        lines.append(f"Note: links were written from {written:g} on; what is below was not looked for.")
    if found.repeated:
        lines.append(f"Note: of the truth, {found.repeated:,} repeated pairs were left out.")
    if not found.checked:
        lines.append("Note: name both collections (INPUT INPUT) to check that all ids of the truth are among them.")
    return lines
