"""Which share of what was predicted of searches is within the bars, and each prediction that is not."""

from __future__ import annotations

from typing import Any

import numpy as np

BARS = {"recall": (0.03, 0.9), "bytes": (0.1, 0.9), "seconds": (2.0, 0.8), "build": (2.0, 0.8), "choice": (1.5, 0.9)}
_KINDS = 1.5  # times as long as the best kind


def summed(settings: list[dict[str, Any]], kinds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return which share of the predictions is within the bars."""
    runs = [each for each in settings if "method" in each]
    within = {name: [near(run, name) for run in runs] for name in ("recall", "bytes", "seconds", "build")}
    within["choice"] = [each["ratio"] <= BARS["choice"][0] for each in settings if "ratio" in each]
    found = {
        name: {"settings": len(held), "within": sum(held), "share": float(np.mean(held)), "bar": BARS[name][1]}
        for name, held in within.items()
        if held
    }
    if kinds:
        worst = [max(each["ratios"].values()) for each in kinds]
        found["kinds"] = {
            "settings": len(worst),
            "within": sum(each <= _KINDS for each in worst),
            "share": float(np.mean([each <= _KINDS for each in worst])),
            "bar": 1.0,
            "worst": max(worst),
        }
    return found


def near(run: dict[str, Any], name: str) -> bool:
    """Say whether a prediction is within its bar."""
    expected, measured = run[name]
    if name == "recall":
        return bool(abs(expected - measured) <= BARS[name][0])
    if name == "bytes":
        return bool(abs(expected / measured - 1) <= BARS[name][0])
    return bool(1 / BARS[name][0] <= expected / measured <= BARS[name][0])


def lines(summary: dict[str, Any], settings: list[dict[str, Any]], kinds: list[dict[str, Any]]) -> list[str]:
    """Return each prediction that missed, and then the shares."""
    said = []
    for run in settings:
        at = f"{run['data']} {run['skew']}, {_asked(run)}"
        if "ratio" in run:
            if run["ratio"] > BARS["choice"][0]:
                said.append(
                    f"missed choice: {at}, recall {run['asked']}: {run['chosen']} took {run['ratio']:.2f} times as "
                    f"long as {run['fastest']}"
                )
            continue
        for name in ("recall", "bytes", "seconds", "build"):
            if not near(run, name):
                expected, measured = run[name]
                said.append(f"missed {name}: {at}, {run['setting']}: predicted {expected:.4g}, was {measured:.4g}")
    for each in kinds:
        for how, ratio in each["ratios"].items():
            if ratio > _KINDS:
                at = f"{each['rows']:,} x {each['bits']} {each['skew']}"
                said.append(f"missed kind: {at}: {each['kind']} takes {ratio:.2f} times as long as the best, {how}")
    for name, each in summary.items():
        share = f"{each['share']:.0%}; wanted {each['bar']:.0%}"
        said.append(f"{name}: {each['within']} of {each['settings']} within the bar ({share})")
    return said


def _asked(run: dict[str, Any]) -> str:
    (what,) = run["ask"].items()
    return f"{what[0]} {what[1]}, {'one by one' if run['single'] else 'batch'}"
