"""Documents with copies, near-duplicates, templates and texts without words, and what one machine finds in them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def corpus(count: int, seed: int = 0) -> pa.Table:
    """Return documents whose ids ascend: id, text, and a number that may decide who stays."""
    random = np.random.default_rng(seed)
    words = np.array([f"w{number}" for number in range(3000)])
    texts: list[str] = []
    for _ in range(count):
        chance, earlier = random.random(), texts[int(random.integers(len(texts)))] if texts else ""
        kept = earlier.split()
        if chance < 0.1 and texts:
            texts.append(earlier)
        elif chance < 0.4 and len(kept) > 3:
            for place in random.integers(len(kept), size=int(random.integers(1, 4))):
                kept[place] = str(random.choice(words))
            texts.append(" ".join(kept))
        elif chance > 0.97:
            texts.append("\U0001f642" * int(random.integers(0, 3)))
        else:
            texts.append(" ".join(random.choice(words, int(random.integers(2, 60)))))
    stars = [None if random.random() < 0.2 else int(random.integers(5)) for _ in range(count)]
    return pa.table({"id": np.arange(count) * 7 + 3, "text": texts, "stars": stars})


def sorted_table(frame: object) -> list[dict[str, object]]:
    """Return the rows of a DataFrame or a table in one order."""
    table = frame if isinstance(frame, pa.Table) else frame.toArrow()  # type: ignore[attr-defined]
    return sorted(table.to_pylist(), key=repr)
