"""Measure everything beside its peers, in one run: print it, write docs/benchmarks.md and benchmarks/results.json.

usage: python -m benchmarks [--texts FILE.parquet] [--only signing,hamming,dedup,startup,million] [--no-page]
"""

from __future__ import annotations

import argparse
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks import dedup, hamming, memory, million, signing, startup
from benchmarks.corpus import Corpus
from benchmarks.page import MORE, page

ROOT = Path(__file__).resolve().parent.parent
GROUPS = ("signing", "hamming", "dedup", "startup", "million")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", help="a Parquet file with a column text; default: a generated corpus")
    parser.add_argument("--only", default=",".join(GROUPS), help="groups to measure")
    parser.add_argument("--no-page", action="store_true", help="print only")
    options = parser.parse_args()
    wanted = options.only.split(",")
    corpus = Corpus.at(options.texts)
    results: dict[str, Any] = {
        "machine": machine(),
        "versions": {
            name: version(name) for name in ("numba", "pyarrow", "faiss-cpu", "rensa", "simhash", "datasketch")
        },
        "corpus": corpus.name,
        "speed": [],
        "startup": [],
        "million": [],
    }
    if "signing" in wanted:
        results["speed"] += signing.rows(corpus)
    if "hamming" in wanted:
        results["speed"] += hamming.rows()
    if "dedup" in wanted:
        results["speed"] += dedup.rows(corpus)
    if "startup" in wanted:
        results["startup"] = startup.rows()
    if "million" in wanted:
        results["million"] = million.rows()
    if memory.RESULT.exists():
        results["memory"] = json.loads(memory.RESULT.read_text("utf-8"))
    for name, group in MORE.items():
        if group.RESULT.exists():
            results[name] = json.loads(group.RESULT.read_text("utf-8"))
    if not options.no_page:  # before anything else can go wrong: it took minutes
        (ROOT / "benchmarks" / "results.json").write_text(json.dumps(results, indent=1) + "\n", "utf-8")
    text = page(results)
    print(text)
    if not options.no_page:
        (ROOT / "docs" / "benchmarks.md").write_text(text, "utf-8")


def machine() -> str:
    model = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = [line.split(":", 1) for line in info.read_text().splitlines() if ":" in line]
        fields = {name.strip(): value.strip() for name, value in lines}
        vectors = (
            "AVX-512" if "avx512f" in fields.get("flags", "") else "AVX2" if "avx2" in fields.get("flags", "") else ""
        )
        model = f"{fields.get('model name', model)}, {vectors}"
    return f"{model}, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
