"""Which families a slow test goes through: some of them, or every one when `CLOVERLAB_FAMILIES` says `all`."""

from __future__ import annotations

import os
from collections.abc import Iterable


def chosen(always: Iterable[str], every: Iterable[str]) -> list[str]:
    return list(every if os.environ.get("CLOVERLAB_FAMILIES") == "all" else always)
