"""Which signer documents are signed by: one of the options' spec, or one that was saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import click

from sosie.cli.options import SHINGLES, F, is_given
from sosie.errors import UsageError
from sosie.features.weighting import WEIGHTINGS
from sosie.signatures.files import load_signer
from sosie.signatures.minhash import Minhash
from sosie.signatures.named import default_shingles, own_parameters, parameters_of, split_parameters
from sosie.signatures.registry import METHODS
from sosie.signatures.signer import Signer
from sosie.signatures.spec import Spec
from sosie.text.stems import stem_algorithm
from sosie.text.stop_words import stop_words

EXPLICIT = ("bits", "weighting", "minima", "rows", "b")  # parameters of methods that are options of their own
READ = {"stem": stem_algorithm, "stop_words": stop_words}  # options that mean the same in several spellings


def signer_options(function: F) -> F:
    """Add what signatures are made by."""
    for option in reversed(
        (
            click.option(
                "--method",
                type=click.Choice(sorted(METHODS)),
                default="simhash",
                show_default=True,
                help="Simhash: signatures for the cosine. Minhash: keys for the Jaccard similarity. Others: the guide.",
            ),
            click.option("--bits", type=int, help="Bits of a signature. [default: 64 for simhash]"),
            click.option(
                "--weighting",
                type=click.Choice(WEIGHTINGS),
                help="How features weigh; tf-idf and bm25 read the inputs twice. [default: tf for simhash]",
            ),
            click.option("--minima", type=int, help="Minhash: minima of a document. [default: 128]"),
            click.option("--rows", type=int, help="Minhash: minima in a key. [default: 5]"),
            click.option(
                "--b", type=int, help="Minhash: make binary signatures of b bits of each minimum instead of keys."
            ),
            click.option(
                "--parameter",
                "parameters",
                multiple=True,
                metavar="NAME=VALUE",
                help="Another parameter of the method, as density=21; can be repeated.",
            ),
            click.option("--keys", is_flag=True, default=None, help="Make keys, where a method makes both."),
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


def signer_of(
    options: dict[str, Any], defaults: Mapping[str, Any] | None = None
) -> tuple[Spec, Spec | Signer, list[str]]:
    """Return the spec, what signs (the spec, or a signer that was saved), and what is read for it.

    `defaults` are parameters for methods that have them, where the options say nothing.
    """
    if not options["signer"]:
        spec = spec_of(options, defaults or {})
        return spec, spec, []
    saved = saved_signer(options)
    return saved.spec, saved, [options["signer"]]


def spec_of(options: dict[str, Any], defaults: Mapping[str, Any]) -> Spec:
    """Build the spec; an option of another method is wrong usage, not ignored."""
    kind = METHODS[options["method"]]
    _refuse_others(kind, options)
    shingles = {name: value for name, value in defaults.items() if name in SHINGLES}
    shingles |= {name: options.pop(name) for name in SHINGLES if is_given(name)}
    given = {name: value for name, value in defaults.items() if name in own_parameters(kind)}
    given |= {name: options[name] for name in EXPLICIT if options[name] is not None}
    named = split_parameters(options["parameters"])
    if twice := [name for name in named if name in given or name == "seed"]:
        raise UsageError(f"{twice[0]} is an option of its own: pass --{twice[0]}, not --parameter {twice[0]}=")
    other = parameters_of(kind, named)
    return kind(**given, **other, shingles=replace(default_shingles(kind), **shingles), seed=options["seed"])


def saved_signer(options: dict[str, Any]) -> Signer:
    """Load the signer; an option that contradicts it is wrong usage."""
    signer = load_signer(options["signer"])
    kind = type(signer.spec)
    _refuse_others(kind, options)
    shingles = signer.spec.shingles
    said = {**signer.spec.to_dict(), **vars(shingles)}
    held = {**said, "stop_words": shingles.left_out}
    meant = {name: options[name] for name in options if name in said and is_given(name)}
    meant |= parameters_of(kind, split_parameters(options["parameters"]))
    for name, value in meant.items():
        if (READ[name](value) if name in READ else value) != held[name]:
            raise UsageError(
                f"--{name.replace('_', '-')} {value} contradicts the signer in {options['signer']}, which has "
                f"{'none' if said[name] is None else said[name]}: leave the option or --signer out"
            )
    return signer


def form_of(spec: Spec, options: dict[str, Any]) -> dict[str, Any]:
    """Return what is made: bits, with or without the sums behind them, or keys."""
    made = spec.makes
    if isinstance(spec, Minhash) and options["b"] is None:
        made = ("keys",)
    if options["keys"] and "keys" not in made:
        raise UsageError(f"{spec.method} makes no keys" + (" with --b" if isinstance(spec, Minhash) else ""))
    return {"keys": bool(options["keys"]) or "signatures" not in made, "volatility": bool(options.get("volatility"))}


def _refuse_others(kind: type[Spec], options: dict[str, Any]) -> None:
    own = own_parameters(kind)
    for name in (name for name in EXPLICIT if name not in own and options[name] is not None):
        raise UsageError(f"--{name} does not belong to --method {kind.method}")
    if options.get("volatility") and not kind.volatile:
        raise UsageError(f"--volatility does not belong to --method {kind.method}")
