"""What of each file is durable. (Being written.)"""

from __future__ import annotations

import random
from pathlib import Path


def lose_power(root: Path, rng: random.Random | None) -> list[str]:
    return []
