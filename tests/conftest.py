"""What all tests share: the oracles can be imported, and Hypothesis takes as long as a loaded machine needs."""

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

sys.path.insert(0, str(Path(__file__).parent.parent))  # `from tests import oracle`, however pytest is started

# Where CI is set, the examples are the same in every run; elsewhere each run tries others.
settings.register_profile(
    "sosie", deadline=None, derandomize="CI" in os.environ, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("sosie")
