"""What was measured of signatures: as rows for people and programs, and as a page with plots."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from sosie.evaluation.signatures.estimates import HammingQuality, Stress
from sosie.evaluation.signatures.quality import SignatureQuality, Truth
from sosie.report.charts import Line, line_chart
from sosie.report.style import STYLE
from sosie.report.summary import unit_name
from sosie.signatures.named import own_parameters
from sosie.signatures.spec import Spec

NONE_SIMILAR = "no pair of the sample is similar: take a larger sample, or a lower cosine"


def spec_name(spec: Spec) -> str:
    """Return the method with the parameters that are not its defaults.

    >>> from sosie.signatures.simhash import Simhash
    >>> spec_name(Simhash(bits=128)), spec_name(Simhash())
    ('simhash:bits=128', 'simhash')
    """
    defaults = own_parameters(type(spec))
    given = [f"{name}={getattr(spec, name)}" for name, value in defaults.items() if getattr(spec, name) != value]
    return ":".join([spec.method, *([",".join(given)] if given else [])])


def quality_rows(quality: SignatureQuality) -> dict[str, Any]:
    """Return what was measured as JSON-ready data; `shown` is for people."""
    data: dict[str, Any] = {
        "spec": quality.spec.to_dict(),
        "steps": {name: getattr(quality.spec, name) for name in ("embedding", "quantisation", "encoding")},
        "code_length": quality.spec.code_length,
        "multiplicity": quality.spec.multiplicity,
        "documents": quality.documents,
        "microseconds": round(1e6 * quality.seconds / quality.documents, 2),
    }
    shown = {spec_name(quality.spec): f"{data['microseconds']:.2f} us per document"}
    if quality.ranking is not None:
        data["ranking"] = vars(quality.ranking)
        recall, ratio = quality.ranking.recall, quality.ranking.ratio
        shown["nearest"] = f"recall {recall:.3f}, cumulative distance ratio (CDR) {ratio:.3f}"
    if (error := quality.error) is not None:
        data["error"] = _listed(vars(error))
        shown["mean error of the cosine"] = ", ".join(
            f"{value:.3f} from {least:g} on"
            for least, value in zip(error.least, error.error, strict=True)
            if value >= 0
        )
    if (radius := quality.radius) is not None:
        data["radius"] = _listed({name: getattr(radius, name) for name in ("pairs", "precision", "recall", "cosine")})
        shown["radius of balance"] = _balance(radius)
    if quality.stress:
        data["stress"] = [{name: _number(value) for name, value in vars(each).items()} for each in quality.stress]
        shown["precision / recall stress"] = ", ".join(_stress(each) for each in quality.stress)
    if (found := quality.found) is not None:
        data["found"] = _listed(
            {name: getattr(found, name) for name in ("thresholds", "similar", "recall", "precision")}
        )
        data["found"] |= {"result_size": found.result_size, "reduction": _number(found.reduction)}
        shown["recall / precision at similarity"] = ", ".join(
            f"{_figure(recall, 'no pair')} / {_figure(precision, 'nothing found')} at {level:g}"
            for level, recall, precision in zip(found.thresholds, found.recall, found.precision, strict=True)
        )
        shown["results"] = (
            f"{found.result_size:.1f} documents on average, {found.reduction:.0f} times fewer than there are"
            if found.retrieved
            else "none: no two documents of the sample share a key"
        )
    return {**data, "shown": shown}


def _balance(radius: HammingQuality) -> str:
    if not radius.any_similar:
        return NONE_SIMILAR
    h = radius.balance
    return f"{h} bits, precision {radius.precision[h]:.3f}, recall {radius.recall[h]:.3f}"


def _stress(each: Stress) -> str:
    returned = _figure(each.precision_stress, "no pair returned")
    return f"{returned} / {_figure(each.recall_stress, 'no pair')} at {each.threshold:g}"


def _figure(value: float, otherwise: str) -> str:
    """Return a figure, or in words why there is none."""
    return otherwise if np.isnan(value) else f"{value:.3f}"


def signature_page(measured: list[SignatureQuality], truth: Truth, documents: int) -> str:
    """Return the page: a plot for each measure, and the figures."""
    bits = [each for each in measured if each.radius is not None]
    keys = [each for each in measured if each.found is not None]
    said = (
        f"{documents:,} documents; all pairs of {measured[0].documents:,}. Similar: a cosine of at least"
        f" {truth.similar:g}, of {truth.weighting} weights of"
        f" {truth.shingles.width}-{unit_name(truth.shingles.unit)} shingles."
    )
    sections = [f'<h1>Signatures on this collection</h1><p class="lead">{escape(said)}</p>']
    if bits:
        if not all(each.radius is not None and each.radius.any_similar for each in bits):
            sections.append(f'<p class="note">{escape(NONE_SIMILAR.capitalize())}.</p>')
        sections += [
            _plot("Recall by radius", "share of the bits", bits, _curve("recall")),
            _plot("Precision by radius", "share of the bits", bits, _curve("precision")),
            _plot("Mean cosine by distance", "share of the bits", bits, _curve("cosine")),
        ]
        estimating = [each for each in bits if each.error is not None]
        if estimating:
            sections.append(_plot("Mean error of the cosine", "pairs of at least this cosine", estimating, _error))
    if keys:
        sections += [
            _plot("Recall at similarity", "least cosine", keys, _found("recall")),
            _plot("Precision at similarity", "least cosine", keys, _found("precision")),
        ]
    rows = "".join(
        "<table>" + "".join(f"<tr><th>{escape(n)}</th><td>{escape(v)}</td></tr>" for n, v in shown.items()) + "</table>"
        for shown in (quality_rows(each)["shown"] for each in measured)
    )
    sections.append(f"<section><h2>Figures</h2>{rows}</section>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Signatures</title>'
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head>'
        f"<body><main>{''.join(sections)}</main></body></html>\n"
    )


def _plot(title: str, axis: str, measured: list[SignatureQuality], line: Callable[[SignatureQuality], Line]) -> str:
    lines = [line(each) for each in measured]
    if all(np.isnan(each.y).all() for each in lines):
        return f'<section><h2>{escape(title)}</h2><p class="note">Nothing to draw: no such pair.</p></section>'
    chart = line_chart(lines, title, axis)
    return f"<section><h2>{escape(title)}</h2>{chart}</section>"


def _curve(name: str) -> Callable[[SignatureQuality], Line]:
    def line(each: SignatureQuality) -> Line:
        values = getattr(each.radius, name)
        return Line(spec_name(each.spec), np.arange(len(values)) / (len(values) - 1), np.maximum(values, 0))

    return line


def _error(each: SignatureQuality) -> Line:
    assert each.error is not None
    return Line(spec_name(each.spec), each.error.least, each.error.error)


def _found(name: str) -> Callable[[SignatureQuality], Line]:
    return lambda each: Line(spec_name(each.spec), each.found.thresholds, getattr(each.found, name))  # type: ignore[union-attr]


def _listed(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: [_number(value) for value in np.asarray(array).tolist()] for name, array in arrays.items()}


def _number(value: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return value if np.isfinite(value) else None
