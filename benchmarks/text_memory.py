"""What a text takes while it is compared, beside what is expected of it: bytes of memory for each of its bytes.

usage: python -m benchmarks.text_memory [--megabytes 8] [--only KIND ...]

Texts of every kind that folds, cuts or hashes in its own way; each is read in a process of its own, with tags, after a
short one of its kind. `documents.bounded` rejects by what is expected, which must not be less than what is taken.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from random import Random

from sosie.documents.bounded import text_bytes

RANDOM = Random(1)
KINDS = {
    "words of a language": lambda size: " ".join(RANDOM.choices(["the", "rose", "is", "a", "flower"], k=size // 4)),
    "distinct words": lambda size: " ".join(f"{i:x}" for i in range(size // 6)),
    "words of one letter": lambda size: " ".join(RANDOM.choices("abcdefghijklmnopqrstuvwxyz", k=size // 2)),
    "one word again and again": lambda size: "rose " * (size // 5),
    "one word": lambda size: "a" * size,
    "long words": lambda size: " ".join(["x" * 2000] * (size // 2001)),
    "no words": lambda size: ". " * (size // 2),
    "Latin with accents": lambda size: "Éç à ñ " * (size // 11),
    "Greek that decomposes": lambda size: "ΐ ᾧ " * (size // 7),
    "Chinese": lambda size: "".join(chr(RANDOM.randrange(0x4E00, 0x9FFF)) for _ in range(size // 3)),
    "Hangul": lambda size: "".join(chr(RANDOM.randrange(0xAC00, 0xD7A3)) + " " for _ in range(size // 4)),
    "combining marks": lambda size: "a" + "\u0301\u0316" * (size // 4),
    "emoji": lambda size: "\U0001f339" * (size // 4),
    "ligatures": lambda size: "\ufb03 " * (size // 4),
    "U+FDFA": lambda size: "\ufdfa" * (size // 3),
    "U+FDFA and spaces": lambda size: "\ufdfa " * (size // 4),
    "square words, U+3316": lambda size: "\u3316 " * (size // 4),
    "U+FDFB": lambda size: "\ufdfb" * (size // 3),
    "in brackets, U+321D": lambda size: "\u321d " * (size // 4),
    "a letter outside ASCII": lambda size: "é" + " a" * (size // 2),
}
CHILD = """
import gc, resource, sys
import pyarrow as pa
from benchmarks.text_memory import KINDS
from sosie.features.shingles import Shingles
from sosie.features.spans import cut
from sosie.features.tags import draw_key
from sosie.features.whole import WholeText, features_of
from sosie.text.column import as_column

def extract(text):
    (span,) = cut(as_column(pa.array([text], pa.large_string())), Shingles())
    return features_of(span, True, WholeText(), draw_key())

def high():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

kind, size = sys.argv[1], int(sys.argv[2])
extract(KINDS[kind](1000))
text = pa.array([KINDS[kind](size)], pa.large_string())
gc.collect()
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = int(open("/proc/self/statm").read().split()[1]) * 4096
(span,) = cut(as_column(text), Shingles())
kept = features_of(span, True, WholeText(), draw_key())
peak = next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(peak - before)
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=8)
    parser.add_argument("--only", nargs="*", default=list(KINDS), choices=list(KINDS), metavar="KIND")
    options = parser.parse_args()
    size, more = options.megabytes * 1_000_000, False
    print("| text | taken | expected, for each byte |\n|---|---|---|")
    for kind in options.only:
        text = KINDS[kind](size).encode()
        done = subprocess.run([sys.executable, "-c", CHILD, kind, str(size)], stdout=subprocess.PIPE, check=True)
        taken, expected = int(done.stdout) / len(text), text_bytes(text) / len(text)
        more = more or taken > expected
        print(f"| {kind} | {taken:.1f} | {expected:.0f}{' !' if taken > expected else ''} |", flush=True)
    return more


if __name__ == "__main__":
    sys.exit(main())
