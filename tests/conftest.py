"""Makes `tests.support` and `tests.reference` importable, and property tests independent of machine speed."""

import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

settings.register_profile(
    "steady", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("steady")
