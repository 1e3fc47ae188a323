"""Cases of a slow test: some of them, or all when an environment variable is `all`."""

from __future__ import annotations

import os
from collections.abc import Iterable

FAMILIES = "CLOVERLAB_FAMILIES"
SCENARIOS = "CLOVERLAB_SCENARIOS"


def wants_all(variable: str) -> bool:
    return os.environ.get(variable) == "all"


def chosen(always: Iterable[str], every: Iterable[str], variable: str = FAMILIES) -> list[str]:
    return list(every if wants_all(variable) else always)
