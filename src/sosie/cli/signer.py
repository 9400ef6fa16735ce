"""Which signer `sosie sign` takes: one of the options' spec, or one that was saved."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from sosie.cli.options import F, is_given, shingles_of
from sosie.documents.source import Source
from sosie.errors import UsageError
from sosie.features.frequencies import count_frequencies
from sosie.features.weighting import WEIGHTINGS
from sosie.report.stages import Stages
from sosie.signatures.files import load_signer
from sosie.signatures.minhash import Minhash
from sosie.signatures.signer import Signer
from sosie.signatures.simhash import Simhash
from sosie.signatures.spec import Spec
from sosie.text.stems import stem_algorithm
from sosie.text.stop_words import stop_words

OWN = {"simhash": ("bits", "weighting", "volatility"), "minhash": ("minima", "rows", "b")}
READ = {"stem": stem_algorithm, "stop_words": stop_words}  # options that mean the same in several spellings


def signer_options(function: F) -> F:
    """Add what signatures are made by."""
    for option in reversed(
        (
            click.option(
                "--method",
                type=click.Choice(list(OWN)),
                default="simhash",
                show_default=True,
                help="Simhash: signatures for the cosine. Minhash: keys for the Jaccard similarity.",
            ),
            click.option("--bits", type=int, help="Simhash: bits of a signature. [default: 64]"),
            click.option(
                "--weighting",
                type=click.Choice(WEIGHTINGS),
                help="Simhash: how features weigh; tf-idf and bm25 read the inputs twice. [default: tf]",
            ),
            click.option("--minima", type=int, help="Minhash: minima of a document. [default: 128]"),
            click.option("--rows", type=int, help="Minhash: minima in a key. [default: 5]"),
            click.option(
                "--b", type=int, help="Minhash: make binary signatures of b bits of each minimum instead of keys."
            ),
            click.option("--seed", type=int, default=0, show_default=True, help="Other bits for each seed."),
            click.option(
                "--signer",
                type=click.Path(),
                help="Sign like this directory says, a saved signer or signatures, instead of the options above.",
            ),
        )
    ):
        function = option(function)
    return function


def spec_of(options: dict[str, Any]) -> Spec:
    """Build the spec; an option of the other method is wrong usage, not ignored."""
    method = options["method"]
    _refuse_others(method, options)
    given = {name: options[name] for name in OWN[method] if name != "volatility" and options[name] is not None}
    kind: type[Spec] = Simhash if method == "simhash" else Minhash
    return kind(**given, shingles=shingles_of(options), seed=options["seed"])


def saved_signer(options: dict[str, Any]) -> Signer:
    """Load the signer; an option that contradicts it is wrong usage."""
    signer = load_signer(options["signer"])
    _refuse_others(signer.spec.method, options)
    shingles = signer.spec.shingles
    said = {**signer.spec.to_dict(), **vars(shingles)}
    held = {**said, "stop_words": shingles.left_out}
    for name in (name for name in options if name in said and is_given(name)):
        meant = READ[name](options[name]) if name in READ else options[name]
        if meant != held[name]:
            raise UsageError(
                f"--{name.replace('_', '-')} {options[name]} contradicts the signer in {options['signer']}, which has "
                f"{'none' if said[name] is None else said[name]}: leave the option or --signer out"
            )
    return signer


def fitted(spec: Spec, source: Source, stages: Stages, threads: int | None) -> Signer:
    """Return a signer; a spec that needs statistics reads the source for them first."""
    if not spec.needs_texts:
        ready: Signer = spec.fit()
        return ready
    with stages.run("fit") as stage:

        def texts() -> Iterator[Any]:
            for batch in source.batches(threads):
                stage.advance(len(batch) + len(batch.rejects))
                yield batch.texts

        fitted: Signer = spec.fit(count_frequencies(texts(), spec.shingles, threads))
    return fitted


def form_of(spec: Spec, options: dict[str, Any]) -> dict[str, Any]:
    """Return what is made: bits, with or without the sums behind them, or keys."""
    if isinstance(spec, Minhash):
        return {"keys": options["b"] is None}
    return {"volatility": bool(options.get("volatility"))}


def _refuse_others(method: str, options: dict[str, Any]) -> None:
    for name in (name for other, names in OWN.items() if other != method for name in names):
        if options.get(name) is not None:
            raise UsageError(f"--{name} does not belong to --method {method}")
