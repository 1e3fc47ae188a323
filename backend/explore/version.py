"""Digest of the code: a seed repeats its outcome only with the same code."""

from __future__ import annotations

import hashlib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("nodes", "backend")


def code_digest(root: Path = ROOT) -> str:
    """Digest of every Python file that a trial may run."""
    digest = hashlib.sha256()
    for path in sorted(path for part in PARTS for path in (root / part).rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
