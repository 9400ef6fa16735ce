"""What indexes hold and write is predicted to the byte, and what the planner knows of their layout is what it is."""

import numpy as np
import pytest

from sosie.index import flat as flat_index
from sosie.index.blocks import BlockIndex
from sosie.index.files import load_index
from sosie.index.flat import FlatIndex
from sosie.index.multi import MultiIndex
from sosie.index.probes import ProbeIndex
from sosie.index.slices import SliceIndex
from sosie.kernels.machine import lanes
from sosie.kernels.planes import layout
from sosie.kernels.slices import sums
from sosie.kernels.tables import probes as probe_kernels
from sosie.kernels.tables import vosh
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.methods import blocks, flat, multi, probes, slices
from sosie.planner.wish import Wish
from sosie.types import Signatures

METHODS = {
    "flat": (flat, FlatIndex, {}, {}),
    "multi": (multi, MultiIndex, {}, {}),
    "multi of 7": (multi, MultiIndex, {"tables": 7}, {"tables": 7}),
    "blocks": (blocks, BlockIndex, {"radius": 3}, {"radius": 3}),
    "blocks of 5": (blocks, BlockIndex, *[{"radius": 2, "blocks": 5, "header": 2}] * 2),
    "probes": (probes, ProbeIndex, {"probes": 4}, {}),
    "probes of 9": (probes, ProbeIndex, {"probes": 4, "header": 9}, {"header": 9}),
    "slices": (slices, SliceIndex, {"slice_width": 11, "breadth": 1}, {"width": 11}),
}


def arrays_of(value, seen):
    """Return every array that an object holds, each once, by what it is a view of."""
    if isinstance(value, np.ndarray):
        base = value if value.base is None or not isinstance(value.base, np.ndarray) else value.base
        while isinstance(base.base, np.ndarray):
            base = base.base
        seen[base.__array_interface__["data"][0]] = max(base.nbytes, seen.get(base.__array_interface__["data"][0], 0))
    elif isinstance(value, list | tuple):
        for each in value:
            arrays_of(each, seen)
    elif hasattr(value, "__dict__") and type(value).__module__.startswith("sosie."):
        arrays_of(list(vars(value).values()), seen)
    return seen


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("rows", "bits"), ((700, 64), (3000, 64), (3000, 1000)))
def test_bytes_are_those_of_the_arrays_and_the_files(name, rows, bits, tmp_path):
    method, kind, parameters, options = METHODS[name]
    if bits > 64 and name == "multi of 7":
        options = parameters = {"tables": 90}
    words = np.random.default_rng(0).integers(0, 2**64, (rows, -(-bits // 64)), dtype=np.uint64)
    words[:, -1] &= np.uint64(2 ** (bits % 64 or 64) - 1)
    index = kind(Signatures(words, bits), **options)
    wish = Wish(task="search", rows=rows, others=1, bits=bits, radius=2)
    expected = method.estimate(wish, Facts(), Machine(), parameters).estimate.bytes

    held = sum(arrays_of([index._state.ids.live, index._state.stored], {}).values())
    assert expected.heap == pytest.approx(held, rel=0.01, abs=20_000)  # of masks and other small things
    index.save(tmp_path / "saved")
    files = [path for path in (tmp_path / "saved").iterdir() if path.name not in ("manifest.json", ".sosie")]
    assert expected.disk == sum(path.stat().st_size for path in files)
    mapped = arrays_of([load_index(tmp_path / "saved")._state.stored], {})
    assert sum(mapped.values()) == pytest.approx(expected.mapped, rel=0.01, abs=20_000)


def test_the_layout_is_that_of_the_kernels():
    assert (layout.BLOCK, layout.CHUNK, flat_index.TILE) == (flat.BLOCK, flat.CHUNK, flat.TILE)
    assert all(layout.plane_count(bits) == flat.planes_of(bits) for bits in (1, 32, 33, 64, 1000))
    assert lanes.LANES == blocks.LANES == probe_kernels.LANES == probes.LANES
    assert (vosh.WIDEST, vosh.FEW) == (probes.WIDEST, probes.FEW)
    assert sums._MANY == slices.MANY
