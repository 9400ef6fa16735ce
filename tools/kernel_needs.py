"""Write src/sosie/jobs/needs.json: which kernels each job calls, and for which types they are compiled.

usage: python tools/kernel_needs.py [JOB...]

Every job is rehearsed: its command runs on a small corpus, twice. The first run compiles, and says of how many
functions each kernel is made; in the second everything comes from the cache, so that what a process has loaded is what
Python called. Jobs are named as `prepare` of `sosie/jobs/warm.py` is told; those that it is never told of are there for
`sosie warm`. A test holds the file against what the commands call.

With names of jobs only these are looked at, with the kernels that are kept already; the others stay as they are.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
NEEDS = ROOT / "src" / "sosie" / "jobs" / "needs.json"
SIGNERS = ("simhash", "minhash", "projection", "topsig", "threshold", "p-stable", "fuzzy-fingerprint", "svd")
KINDS = ("words", "flat", "slices", "blocks", "probes", "multi", "keys")
RECORD = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from tools.kernel_needs import called, rehearsed
compiled = rehearsed(json.loads(sys.argv[2]))
print(json.dumps({"functions": compiled, "called": {} if compiled else called()}))
"""


def rehearsals(folder: Path) -> dict[str, list[list[str]]]:
    """Return the commands of each job, in an order in which what one reads was written by another."""
    documents, odd, truth = str(folder / "documents.jsonl"), str(folder / "odd.jsonl"), str(folder / "truth.tsv")

    def to(name: str) -> list[str]:
        return ["-o", str(folder / name), "--overwrite"]

    def dedup(*options: str) -> list[list[str]]:
        return [["dedup", documents, *to("result"), *options]]

    jobs = {
        "dedup jaccard": [*dedup(), *dedup("--annotate", "--keep", "longest")],
        "dedup cosine": dedup("--similarity", "cosine"),
        "dedup cosine weighted": dedup("--similarity", "cosine", "--weighting", "tf-idf"),
        "dedup cosine bm25": dedup("--similarity", "cosine", "--weighting", "bm25"),
        "dedup containment": dedup("--similarity", "containment"),
        "dedup minhash": dedup("--method", "minhash"),
        "dedup simhash": dedup("--method", "simhash"),
        "dedup simhash cosine": dedup("--method", "simhash", "--similarity", "cosine"),
        "dedup transitive": [*dedup("--clusters", "transitive"), *dedup("--unit", "char", "--width", "5")],
        "dedup crowded": [
            ["dedup", str(folder / "crowd.jsonl"), *to("result"), *options]
            for options in ([], ["--clusters", "transitive"])
        ],
        "dedup code": dedup("--unit", "code"),
        "dedup identical": dedup("--method", "identical"),
        "dedup stems": dedup("--stem", "en", "--stop-words", "en"),
        "dedup against": [
            *dedup("--against", odd),
            *dedup("--against", odd, "--similarity", "cosine"),
            ["sign", odd, *to("reference"), "--features"],
            *dedup("--against", str(folder / "reference"), "--against-only"),
        ],
        "join jaccard": [["join", documents, *to("pairs")], ["join", documents, *to("pairs"), "--with", odd]],
        "join cosine": [["join", documents, *to("pairs"), "--similarity", "cosine"]],
        "join containment": [["join", documents, *to("pairs"), "--similarity", "containment"]],
        "inspect": [["inspect", documents]],
        "dictionary": [
            ["dictionary", "train", str(folder / "pairs.tsv"), *to("dictionary")],
            ["dictionary", "train", str(folder / "lines.tsv"), *to("dictionary")],
            ["dictionary", "import", str(folder / "words.tsv"), *to("dictionary")],
            ["dictionary", "show", str(folder / "dictionary"), "a"],
        ],
        "pages": [["inspect", str(folder / "pages")]],
    }
    for method in SIGNERS:
        jobs[f"sign {method}"] = [["sign", documents, *to(f"signed-{method}"), "--method", method]]
    jobs["sign b-bit"] = [["sign", documents, *to("b-bit"), "--method", "minhash", "--b", "1"]]
    jobs["sign volatile"] = [
        ["sign", documents, *to(f"volatile-{method}"), "--volatility", "--method", method]
        for method in ("simhash", "projection")
    ]
    jobs["sign weighted"] = [
        ["sign", documents, *to("weighted"), "--weighting", weighting] for weighting in ("tf-idf", "bm25")
    ]
    jobs["join saved"] = [
        ["join", str(folder / "signed-simhash"), *to("pairs"), "--radius", "3", "--method", "blocks"],
        ["join", str(folder / "b-bit"), *to("pairs"), "--radius", "12", "--method", "blocks"],
        ["join", str(folder / "signed-minhash"), *to("pairs")],
        ["join", str(folder / "signed-simhash"), *to("pairs"), "--radius", "20", "--method", "brute"],
        [
            *("join", str(folder / "signed-simhash"), *to("pairs")),
            *("--radius", "3", "--memory", "4GB", "--method", "blocks"),
        ],
        ["join", str(folder / "signed-minhash"), *to("pairs"), "--memory", "4GB"],
    ]
    jobs["join window"] = [
        ["join", str(folder / "signed-simhash"), *to("pairs"), "--radius", "20", "--method", "window", *side]
        for side in ([], ["--with", str(folder / "signed-simhash")])
    ]
    sized = ["--memory", "4GB", "--recall", "0.9"]
    jobs["plan documents"] = [
        *(["plan", documents, *sized, *how] for how in ([], ["--measure", "containment"], ["--measure", "cosine"])),
        ["plan", documents, *sized, "--measure", "cosine", "--weighting", "tf-idf"],
    ]
    jobs["plan signatures"] = [
        ["plan", str(folder / "signed-simhash"), *sized, *how]
        for how in (["--radius", "3"], ["--radius", "3", "--queries", "9"], ["-k", "3", "--queries", "9"])
    ]
    numbered, crowd = str(folder / "numbered"), str(folder / "crowd.jsonl")
    for name, how in (("tables", ["--blocks", "4"]), ("probes", ["--probes", "16", "--flips"])):
        batch = ["batch", str(folder / f"store-{name}"), numbered, *to("matches.parquet"), *how]
        jobs[f"batch {name}"] = [["sign", crowd, *to("numbered"), "--volatility"], batch, [*batch, "--first"]]
    for kind in KINDS:
        index, signer = str(folder / f"index-{kind}"), ["--method", "minhash"] if kind == "keys" else []
        jobs[f"index {kind}"] = [["index", "build", documents, *to(f"index-{kind}"), "--kind", kind, *signer]]
        jobs[f"search {kind}"] = [["search", index, "--text", "a b c d"]]
        jobs[f"search {kind}"].append(["search", index, documents, "--exclude-self"])
        if kind not in ("words", "keys"):
            jobs[f"search {kind} within"] = [["search", index, documents, "--radius", "3"]]
            jobs[f"search {kind} within"].append(["search", index, documents, "--radius", "3", "--first"])
        adding = [["index", "add", index, odd], ["search", index, "--text", "a b c d"]]
        jobs[f"change {kind}"] = [*jobs[f"index {kind}"], *adding]
    jobs["search slices certain"] = [["search", str(folder / "index-slices"), documents, "--stop", "certain"]]
    jobs["search slices all"] = [["search", str(folder / "index-slices"), documents, "--stop", "all"]]
    jobs["calibrate"] = [["index", "calibrate", str(folder / "index-probes"), documents, "--radius", "3", "--flips"]]
    jobs["index passages"] = [["index", "build", documents, *to("passages"), "--passages", "--keep-texts"]]
    jobs["search passages"] = [["search", str(folder / "passages"), "--passages", "--text", "a b c d"]]
    jobs["evaluate result"] = [*dedup(), ["evaluate", "result", str(folder / "result"), "--sample", "50"]]
    jobs["evaluate truth"] = [["evaluate", "result", str(folder / "result"), "--truth", truth]]
    jobs["evaluate signatures"] = [["evaluate", "signatures", documents]]
    return jobs | link_rehearsals(folder)


def link_rehearsals(folder: Path) -> dict[str, list[list[str]]]:
    """Return the commands that link two languages, by a dictionary and without one."""
    lexicon, out = str(folder / "lexicon"), ["-o", str(folder / "links"), "--overwrite"]

    def link(*options: str, known: bool = True) -> list[str]:
        sides = [str(folder / "here.jsonl"), str(folder / "there.jsonl")]
        return ["link", *sides, *out, *options, *(["--dictionary", lexicon] if known else [])]

    made = ["dictionary", "import", str(folder / "lexicon.tsv"), "-o", lexicon, "--overwrite"]
    above = ["--threshold", "0.2"]
    return {
        "link": [made, link(), link("--one-to-one", "--formula", "paper")],
        "link exact": [made, link("--exact")],
        "link threshold": [made, link(*above)],
        "link threshold exact": [made, link(*above, "--exact")],
        "link window": [made, link(*above, "--tables", "20", "--window", "20")],
        "link learnt": [link(known=False), link("--parallel", str(folder / "lines.tsv"), known=False)],
    }


def write_corpus(folder: Path) -> None:
    """Write documents that take every way through the kernels: near and equal ones, many scripts, none, long ones."""
    chance = random.Random(0)
    words = ["".join(chance.choices("abcdefghijklmnop", k=chance.randint(2, 9))) for _ in range(2000)]
    texts = [" ".join(chance.choices(words, k=60)) for _ in range(280)]
    texts += [f"{texts[i]} changed" for i in range(40)] + texts[:10]
    texts += ["Stra\u00dfe \ufb01n I\u0307 e\u0323\u0301 \u1e9b\u0323 " * 9]
    texts += ["\u6771\u4eac\u90fd\u306e\u5929\u6c17 " * 9]
    texts += [" ".join(chance.choices(words, k=5000)), "w", "\u0301 a", "all of these words are in it " * 40]
    template = " ".join(words[:40])
    texts += [f"{template} {word}" for word in words[40:64]]  # so many that they share dense lists
    crowd = [f"{template} {i}" for i in range(2100)]  # so many that not all pairs are listed
    odd = [f"d{i}" for i in range(40)]
    with open(folder / "documents.jsonl", "w") as file:
        file.writelines(json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate(texts))
    with open(folder / "crowd.jsonl", "w") as file:
        file.writelines(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(crowd))
    with open(folder / "odd.jsonl", "w") as file:
        file.writelines(json.dumps({"id": f"odd-{name}", "text": texts[2 * i]}) + "\n" for i, name in enumerate(odd))
    (folder / "pairs.tsv").write_text("".join(f"{text}\t{text}\n" for text in texts[:20]), "utf-8")
    (folder / "words.tsv").write_text("a\tb\t0.5\n", "utf-8")
    (folder / "pages").mkdir()
    page = f"<title>w</title><nav>n</nav><p class=c>{texts[0]}<b>b</b><br></p>" * 400  # few tags are not looked at
    (folder / "pages" / "page.html").write_text(page)
    write_languages(folder, words, texts[:240])
    (folder / "truth.tsv").write_text("a\tb\n" + "".join(f"d{i}\td{280 + i}\n" for i in range(40)))


def write_languages(folder: Path, words: list[str], texts: list[str]) -> None:
    """Write texts and the same in another language, with every third word the same, and how words translate.

    There are so many lines that weights are fitted to them.
    """
    lexicon = {word: word if i % 3 == 0 else f"{word[::-1]}yz" for i, word in enumerate(words)}
    turned = [" ".join(lexicon[word] for word in text.split()) for text in texts]
    for name, written in (("here", texts), ("there", turned)):
        with open(folder / f"{name}.jsonl", "w") as file:
            file.writelines(
                json.dumps({"id": f"d{i}", "text": text}) + "\n" for i, text in enumerate([*written[:60], "w"])
            )
    (folder / "lexicon.tsv").write_text("".join(f"{a}\t{b}\t1\n" for a, b in lexicon.items()), "utf-8")
    lines = (f"{a}\t{b}\n" for a, b in zip(texts, turned, strict=True))
    (folder / "lines.tsv").write_text("".join(lines), "utf-8")


def rehearsed(commands: list[list[str]]) -> Counter[str]:
    """Run commands in this process; return the kernels that were compiled, and of how many functions each is made."""
    from click.testing import CliRunner
    from numba.core import event

    from sosie.cli import sosie
    from sosie.kernels.machine.compile import kernel_name

    functions, inside = Counter[str](), list[str]()

    class Counting(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            inside.append(kernel_name(event.data["dispatcher"].py_func))
            functions[inside[0]] += 1

        def on_end(self, event: Any) -> None:
            inside.pop()

    event.register("numba:compile", counting := Counting())
    for command in commands:
        done = CliRunner().invoke(sosie, command)
        if done.exit_code:
            raise RuntimeError(f"sosie {' '.join(command)}\n{done.output}") from done.exception
    event.unregister("numba:compile", counting)
    return functions


def called() -> dict[str, Any]:
    """Return the kernels that this process has loaded from the cache, and for which types."""
    from sosie.kernels.machine.compile import KERNELS
    from sosie.kernels.machine.signature import described

    return {
        name: [[described(kind) for kind in signature] for signature in kernel.signatures]
        for name, kernel in sorted(KERNELS.items())
        if kernel.signatures
    }


def needs(only: list[str]) -> dict[str, Any]:
    """Rehearse every job in a process of its own, twice; or only some."""
    jobs, kernels, functions = dict[str, list[str]](), dict[str, Any](), Counter[str]()
    known = json.loads(NEEDS.read_text("utf-8")) if only else {"jobs": {}, "kernels": {}}
    NEEDS.write_text(json.dumps(known), "utf-8")  # what was known may name kernels that are no more
    with tempfile.TemporaryDirectory() as folder:
        write_corpus(Path(folder))
        environment = os.environ if only else os.environ | {"NUMBA_CACHE_DIR": str(Path(folder) / "cache")}
        if only:
            rehearsed([command for commands in rehearsals(Path(folder)).values() for command in commands])
        for job, commands in rehearsals(Path(folder)).items():
            if only and job not in only:
                jobs[job] = known["jobs"][job]
                continue
            recorded: dict[str, Any] = {"functions": True}
            while recorded["functions"]:  # until nothing is compiled any more
                path = json.dumps([str(ROOT), str(ROOT / "src"), *sys.path])
                command = [sys.executable, "-c", RECORD, path, json.dumps(commands)]
                done = subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True)
                recorded = json.loads(done.stdout.splitlines()[-1])
                functions.update(recorded["functions"])
            jobs[job] = sorted(recorded["called"])
            for name, signatures in recorded["called"].items():
                listed = kernels.setdefault(name, [])
                listed += [signature for signature in signatures if signature not in listed]
            print(f"{job}: {len(recorded['called'])} kernels", flush=True)
    for name in (name for name, signatures in kernels.items() if len(signatures) > 1):
        print(f"{name} is compiled for {len(kernels[name])} signatures")
    made = {
        name: {"functions": max(functions[name], 1), "signatures": sorted(signatures, key=json.dumps)}
        for name, signatures in kernels.items()
    }
    return {"jobs": jobs, "kernels": dict(sorted((made | known["kernels"]).items()))}


if __name__ == "__main__":
    NEEDS.write_text(json.dumps(needs(sys.argv[1:]), indent=1) + "\n", "utf-8")
