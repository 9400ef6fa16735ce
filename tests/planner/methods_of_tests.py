"""Methods that a plan can choose among, made of numbers: a table as `planner/registry.py` has it."""

from types import SimpleNamespace
from typing import NamedTuple

from sosie.planner.estimate import Bytes, Candidate, Estimate


class Listed(NamedTuple):
    """A method whose settings are listed: recall, seconds and bytes of heap of each."""

    name: str
    listed: tuple[tuple[float, float, int], ...]
    tasks: tuple[str, ...] = ("join",)
    cluster: bool = False

    def load(self):
        def settings(wish, facts):
            reaching = [number for number, (recall, _, _) in enumerate(self.listed) if recall >= wish.recall]
            return [{"setting": number} for number in reaching]

        def estimate(wish, facts, machine, parameters):
            recall, seconds, heap = self.listed[parameters["setting"]]
            estimate = Estimate(recall=recall, seconds=seconds, bytes=Bytes(heap=heap))
            return Candidate(method=self.name, parameters=parameters, estimate=estimate)

        return SimpleNamespace(settings=settings, estimate=estimate)


def table(*methods):
    return {method.name: method for method in methods}
