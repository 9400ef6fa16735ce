"""`sosie dictionary`: dictionaries of two languages, trained on parallel text or read from a table, and looked at."""

from __future__ import annotations

from typing import Any

import click

from sosie.cli.headings import HeadedCommand
from sosie.cli.index import InOrder
from sosie.cli.options import output_options, print_options
from sosie.cli.progress import progress
from sosie.cli.say import say, say_json
from sosie.crosslingual.dictionary import Dictionary, load_dictionary
from sosie.crosslingual.spec import ALIGNERS, TrainingSpec
from sosie.crosslingual.table import export_tsv
from sosie.errors import UsageError
from sosie.jobs.dictionary import (
    Columns,
    DictionaryTraining,
    describe_dictionary,
    export_dictionary,
    import_dictionary,
)
from sosie.report.summary import counted
from sosie.shown import printable
from sosie.storage.output import Output

TRAINING = {
    "Options": ("output", "overwrite"),
    "Which text is which": ("swap", "source_column", "target_column", "id_column", "text_column", "languages"),
    "How words are aligned": ("aligner", "iterations", "most", "mass"),
    "Running": ("threads", "quiet", "as_json", "config"),
}


@click.group("dictionary", cls=InOrder)
def command() -> None:
    """Make a dictionary of two languages, and look words up in it."""


def _languages(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[str, str] | None:
    """Take two languages from one option."""
    if value is None:
        return None
    source, comma, target = (each.strip() for each in value.partition(","))
    if not (source and comma and target) or "," in target:
        raise UsageError(f"--languages: two, the source language first, as in de,en; got {value!r}")
    return source, target


@command.command(
    "train", cls=HeadedCommand, headings=TRAINING, short_help="Train a dictionary on texts and their translations."
)
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write the dictionary to.")
@click.option("--swap", is_flag=True, help="The other way round: what would be the target language is the source.")
@click.option("--source-column", help="Documents with two columns: that of the source language. [default: source]")
@click.option("--target-column", help="Documents with two columns: that of the target language. [default: target]")
@click.option("--id-column", help="Two files of documents: the ids by which they are joined. [default: id]")
@click.option("--text-column", default="text", show_default=True, help="Two files of documents: the texts.")
@click.option("--languages", metavar="SOURCE,TARGET", callback=_languages, help="TMX: which two, as in de,en.")
@click.option(
    "--aligner",
    type=click.Choice(ALIGNERS),
    default=TrainingSpec.aligner,
    show_default=True,
    help="What aligns words: ibm1 is faster and less certain, hmm and eflomal take many times as long.",
)
@click.option("--iterations", type=int, help="How often it goes through the text. [default: as the aligner wants: 5]")
@click.option(
    "--most", type=int, default=TrainingSpec.most, show_default=True, help="Keep so many translations of a word."
)
@click.option(
    "--mass",
    type=float,
    default=TrainingSpec.mass,
    show_default=True,
    help="Keep the most probable ones until their probabilities sum up to this.",
)
@output_options
def train(inputs: tuple[str, ...], **options: Any) -> None:
    """Train a dictionary on INPUT: texts and their translations.

    INPUT is files of *.tsv (a text, a tab, its translation), *.po or *.mo (gettext), *.tmx, documents with two columns;
    or exactly two files, of documents with the same ids or of text whose lines are aligned. Long texts are cut into
    paragraphs that correspond. Words are aligned in both directions, so the dictionary serves for both.
    """
    quiet, as_json = options["quiet"], options["as_json"]
    spec = TrainingSpec(**{name: options[name] for name in ("aligner", "iterations", "most", "mass")})
    job = DictionaryTraining(spec=spec, columns=Columns(**{name: options[name] for name in vars(Columns())}))
    with progress(quiet or as_json) as shown:
        output = Output(options["output"], options["overwrite"])
        report = job.run(inputs, output, threads=options["threads"], progress=shown)
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        say(
            f"{counted(report.segments, 'segment')} of {counted(report.pairs, 'pair')} of texts used",
            *_left_out(report.left_out, "pair"),
            *_left_out(report.left_out_segments, "segment"),
            _size(report.to_dict()),
            *(f"Note: {warning}" for warning in report.warnings),
            f"Written to {options['output']}",
        )


@command.command("show", short_help="Look up words in a dictionary.")
@click.argument("directory", type=click.Path(), metavar="DICTIONARY")
@click.argument("asked", nargs=-1, required=True, metavar="WORD...")
@click.option("--backward", is_flag=True, help="The words are of the target language.")
@print_options
def show(directory: str, asked: tuple[str, ...], backward: bool, quiet: bool, as_json: bool) -> None:
    """Look up each WORD of the source language in DICTIONARY: its translations with their probabilities."""
    made = load_dictionary(directory)
    found = {word: made.translations(word, backward) for word in asked}
    if as_json:
        say_json([_entry(made, word, translations, backward) for word, translations in found.items()])
    elif not quiet:
        for word, translations in found.items():
            say(*_shown(made, word, translations, backward))


@command.command("info", short_help="Say what a dictionary is, and check it.")
@click.argument("directory", type=click.Path(), metavar="DICTIONARY")
@print_options
def info(directory: str, quiet: bool, as_json: bool) -> None:
    """Say how many words and translations DICTIONARY has, and how it was made; every file of it is checked."""
    said = describe_dictionary(directory)
    if as_json:
        say_json(said)
    elif not quiet:
        say(*(f"{name:>14}: {value}" for name, value in _lines(said)))


@command.command("import", short_help="Make a dictionary of a table of word pairs.")
@click.argument("input", type=click.Path(), metavar="INPUT")
@click.option("-o", "--output", type=click.Path(), required=True, help="The directory to write the dictionary to.")
@click.option("--overwrite", is_flag=True, help="Replace an output directory that Sosie wrote.")
@print_options
def load(input: str, output: str, overwrite: bool, quiet: bool, as_json: bool) -> None:
    """Make a dictionary of INPUT: lines of source word, target word and probability, separated by tabs.

    A fourth column has the probability of the source word given the target word; without it, that follows from the
    third, as if all source words were equally frequent. Probabilities of a word may have any sum. Entries of several
    words are left out.
    """
    with progress(quiet or as_json) as shown:
        report = import_dictionary(input, Output(output, overwrite), progress=shown)
    if as_json:
        say_json(report.to_dict())
    elif not quiet:
        left_out = _left_out(report.left_out, "entry", "entries")
        say(f"{counted(report.pairs, 'pair')} of words read", *left_out, _size(report.to_dict()))
        say(f"Written to {output}")


@command.command("export", short_help="Write a dictionary as a table of word pairs.")
@click.argument("directory", type=click.Path(), metavar="DICTIONARY")
@click.option("-o", "--output", type=click.Path(), help="The file to write. [default: standard output]")
@click.option("--overwrite", is_flag=True, help="Replace the file.")
@print_options
def export(directory: str, output: str | None, overwrite: bool, quiet: bool, as_json: bool) -> None:
    """Write DICTIONARY as a table that people and `sosie dictionary import` read: one pair of words in each line.

    Columns: source word, target word, and both probabilities; one is empty where that direction does not have the pair.
    """
    if output is None:
        if as_json:
            raise UsageError("--json reports on a file that is written: add -o FILE, or leave it out")
        for line in export_tsv(load_dictionary(directory)):
            click.echo(line)  # words and numbers between tabs: a dictionary has no other characters
        return
    pairs = export_dictionary(directory, output, overwrite)
    if as_json:
        say_json({"pairs": pairs})
    elif not quiet:
        say(f"{counted(pairs, 'pair')} of words", f"Written to {output}")


def _entry(made: Dictionary, word: str, translations: list[tuple[str, float]], backward: bool) -> dict[str, Any]:
    said: dict[str, Any] = {"word": word, "translations": [{"word": w, "probability": p} for w, p in translations]}
    return said if translations else {**said, "near": made.near(word, backward)}


def _shown(made: Dictionary, word: str, translations: list[tuple[str, float]], backward: bool) -> list[str]:
    if translations:
        return [printable(word), *(f"{share:>8.1%}  {other}" for other, share in translations)]
    near = made.near(word, backward)
    meant = f" Near: {', '.join(near)}." if near else ""
    return [f"{printable(word)}: is not in the dictionary.{meant}"]


def _left_out(reasons: dict[str, int], noun: str, plural: str | None = None) -> list[str]:
    nouns = (noun, plural or f"{noun}s")
    return [f"{count:,} {nouns[count != 1]} left out: {why}" for why, count in reasons.items()]


def _size(said: dict[str, Any]) -> str:
    return (
        f"{counted(said['translations'], 'translation')} of {said['source_words']:,} source words by "
        f"{said['target_words']:,} target words ({said['digest']})"
    )


def _lines(said: dict[str, Any]) -> list[tuple[str, str]]:
    spec = said["spec"]
    lines = [
        ("source words", f"{said['source_words']:,}"),
        ("target words", f"{said['target_words']:,}"),
        ("translations", f"{said['translations']:,}, backward {said['backward_translations']:,}"),
    ]
    if spec["origin"] == "trained":
        rounds = "its own" if spec["iterations"] is None else f"{spec['iterations']:,}"
        lines += [
            ("segments", f"{said['segments']:,}"),
            ("made by", f"{spec['aligner']}, iterations: {rounds}"),
            ("kept of a word", f"at most {spec['most']:,} translations, {spec['mass']:.0%} of the probability"),
        ]
    else:
        lines.append(("made by", "a table of word pairs"))
    weights = said["weights"]
    shown = "none" if weights is None else "forward {:g}, backward {:g}, n-grams {:g}".format(*weights)
    return [*lines, ("weights", shown), ("digest", said["digest"])]
