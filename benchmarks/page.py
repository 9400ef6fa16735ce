"""The page docs/benchmarks.md, made from the results."""

from __future__ import annotations

from typing import Any

from benchmarks import batch, crosslingual, far_pairs, memory, planes, probes, sixty_million, wide_pairs

MORE: dict[str, Any] = {  # what is measured apart, and kept in a file
    "planes": planes,
    "probes": probes,
    "sixty_million": sixty_million,
    "batch": batch,
    "far_pairs": far_pairs,
    "wide_pairs": wide_pairs,
    "crosslingual": crosslingual,
}


def page(results: dict[str, Any]) -> str:
    """Return the tables as Markdown; a missed goal says so."""
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    command = (
        "make bench" if results["corpus"] == "generated corpus" else f'make bench BENCH="--texts {results["corpus"]}"'
    )
    lines = [
        "# Benchmarks",
        "",
        f"Made by `{command}`: ours and the peer in the same run, best of several,",
        "one thread unless said, kernels compiled before. Ratios travel better between machines than seconds.",
        "",
        f"Machine: {results['machine']}. {versions}.",
        "",
        "| job | peer | ours | peer | ratio | goal | |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in results["speed"]:
        goal = f">= {row['goal']:g}x" if row["goal"] else "-"
        lines.append(
            f"| {row['job']} | {row['peer']} | {_time(row['ours_s'])} | {_time(row['peer_s'])} |"
            f" **{row['ratio']:.1f}x** | {goal} | {_verdict(row['ratio'] >= row['goal']) if row['goal'] else ''} |"
        )
    lines += ["", "What was measured:", ""]
    lines += [f"- {row['job']} / {row['peer']}: {row['detail']}" for row in results["speed"] if row["detail"]]
    if results["startup"]:
        lines += ["", "| job | seconds | goal | |", "|---|---|---|---|"]
    for row in results["startup"]:
        verdict = _verdict(row["seconds"] <= row["goal_s"])
        lines.append(f"| {row['job']} | {row['seconds']:.3f} | <= {row['goal_s']:g} | {verdict} |")
    if results["million"]:
        lines += [
            "",
            "`sosie dedup` of a million documents of about 500 bytes, two threads, reading and writing included:",
        ]
        lines += ["", "| corpus | kept | seconds | peak memory | stages, in seconds |", "|---|---|---|---|---|"]
    for row in results["million"]:
        stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in row["stages"].items())
        peak = f"{row['peak_memory_bytes'] / 2**20:,.0f} MiB"
        lines.append(f"| {row['corpus']} | {row['kept']:,} | {row['seconds']:.1f} | {peak} | {stages} |")
    if results.get("memory"):
        lines += ["", *memory.lines(results["memory"]), "", "Made by `python -m benchmarks.memory`."]
    for name, group in MORE.items():
        if results.get(name):
            lines += ["", *group.lines(results[name]), "", f"Made by `python -m benchmarks.{name}`."]
    return "\n".join(lines) + "\n"


def _time(seconds: float) -> str:
    if seconds < 1e-6:
        return f"{seconds * 1e9:.2f} ns"
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.2f} ms"


def _verdict(reached: bool) -> str:
    return "reached" if reached else "**missed**"
