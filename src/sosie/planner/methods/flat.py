"""What comparing every row over bit planes costs: the exhaustive index."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from sosie.planner.asked import Asked, blocks_of
from sosie.planner.constants.search import WORTH_A_THREAD
from sosie.planner.estimate import Bytes, Candidate, Estimate
from sosie.planner.facts import Facts
from sosie.planner.machine import Machine
from sosie.planner.models.distances import at_most
from sosie.planner.wish import Wish

BLOCK = 512  # rows whose planes lie together
UNIT = 32  # planes: their number is a multiple of that
TILE = 64  # queries that share a pass over the rows
_CHUNK = 512  # planes that are counted before it is asked whether a row can be near
_WIDEST = 16384  # bits


def planes_of(bits: int) -> int:
    """Return how many planes hold so many bits.

    >>> planes_of(64), planes_of(1000)
    (64, 1024)
    """
    return blocks_of(bits, UNIT) * UNIT


def plane_bytes(rows: int, bits: int) -> int:
    """Return what the planes of rows take.

    >>> plane_bytes(1000, 64)
    8192
    """
    return blocks_of(rows, BLOCK) * BLOCK // 8 * planes_of(bits)


def live_bytes(rows: int) -> int:
    """Return what a bit for each row takes.

    >>> live_bytes(1000)
    128
    """
    return blocks_of(rows, BLOCK) * BLOCK // 8


def held(rows: int, bits: int) -> Bytes:
    """Return what an index holds when it is built, what is mapped where it is loaded, and what is on disk.

    >>> held(1000, 64)
    Bytes(heap=8320, mapped=8320, disk=8320)
    """
    planes, live = plane_bytes(rows, bits), live_bytes(rows)
    return Bytes(heap=planes + live, mapped=planes + live, disk=planes + live)


def least_room(rows: int, bits: int) -> int:
    """Return what no machine must lack so that the rows can be held."""
    return rows * planes_of(bits) // 8


def workers_for(planes: int, blocks: int, threads: int) -> int:
    """Return how many threads are worth starting to count so many planes in each of some blocks.

    >>> workers_for(64, 100, 8), workers_for(64 * 64, 10_000, 8)
    (1, 8)
    """
    return min(threads, 1 + planes * blocks // WORTH_A_THREAD)


def counted_share(bits: int, bound: float) -> float:
    """Return the share of the planes that is counted: no more of a block that has no row that can be near.

    >>> counted_share(1024, 3), counted_share(1024, 450), counted_share(64, 3)
    (0.5, 1.0, 1.0)
    """
    planes, counted, chance = planes_of(bits), 0.0, 1.0
    for first in range(0, planes, _CHUNK):
        if first:
            chance *= 1 - (1 - at_most(first, 0.5, math.floor(bound))) ** BLOCK
        counted += chance * min(_CHUNK, planes - first)
    return counted / planes


def scanning(asked: Asked, machine: Machine, queries: float, together: float, bound: float) -> float:
    """Return the nanoseconds that a scan for each of some queries takes, which come so many at a time."""
    rows, bits = asked.rows, asked.bits
    share = counted_share(bits, bound)
    size, tile = plane_bytes(rows, bits), max(min(together, TILE), 1)
    counting = rows * share * machine.ns("scan.row", planes_of(bits))
    reading = size * share * machine.ns("scan.byte", size) / tile
    if asked.k is None:
        found = asked.matches * machine.ns("match")
    else:
        found = asked.k * (1 + math.log(max(rows / asked.k, 1))) * machine.ns("scan.take")
    blocks = blocks_of(rows, BLOCK)
    threads = workers_for(math.ceil(together) * planes_of(bits), blocks, asked.wish.threads)
    return queries * (machine.ns("scan.query") + max(counting, reading) / machine.speedup(threads) + found)


def build_seconds(rows: int, bits: int, machine: Machine) -> float:
    """Return what turning rows into planes takes."""
    return (rows * machine.ns("planes.row", planes_of(bits)) + plane_bytes(rows, bits) * machine.ns("fresh")) / 1e9


def settings(wish: Wish, facts: Facts) -> Iterable[Mapping[str, Any]]:
    """Return the one way to compare every row."""
    return [{}] if (wish.bits or 64) <= _WIDEST else []


def estimate(wish: Wish, facts: Facts, machine: Machine, parameters: Mapping[str, Any]) -> Candidate:
    """Return what comparing every row is expected to take."""
    asked = Asked(wish, facts)
    bound = asked.bound.mean(lambda distances: distances)
    work = scanning(asked, machine, asked.queries, asked.together, bound)
    build = build_seconds(asked.rows, asked.bits, machine)
    seconds = (asked.calls * machine.ns("flat.call") + work) / 1e9
    expected = Estimate(
        recall=1.0,
        seconds=build + seconds,
        build=build,
        bytes=held(asked.rows, asked.bits),
        work={"comparisons": asked.queries * asked.rows},
    )
    return Candidate(method="flat", parameters=dict(parameters), estimate=expected)
