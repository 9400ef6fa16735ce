"""What all tests share: the oracles can be imported, and Hypothesis takes as long as a loaded machine needs."""

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent.parent))  # `from tests import oracle`, however pytest is started

# What a test reads on standard error does not depend on what was compiled before it; its own tests take this away.
os.environ["SOSIE_COMPILE_NOTICE"] = "0"

# Where CI is set, the examples are the same in every run; elsewhere each run tries others.
settings.register_profile(
    "sosie", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("sosie")

# As plain Python, kernels have no intrinsics, and so no sketches: there all lists are joined as they are.
if os.environ.get("NUMBA_DISABLE_JIT") == "1":
    from sosie.matches.sets import join

    join.DENSE = 1 << 30


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Files go to processes one by one, as ever; those on Spark go to one process together, so that one JVM starts."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class OneForSpark(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "spark" if "/spark/" in nodeid.partition("::")[0] else super()._split_scope(nodeid)

    return OneForSpark(config, log)
