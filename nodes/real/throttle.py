"""A limit on warnings: unauthenticated peers must neither fill a disk nor hide warnings about others."""

from __future__ import annotations

from nodes.real.clock import monotonic_ns

EVERY_NS = 1_000_000_000


class Throttle:
    """Lets one warning about each subject pass in a second. Subjects are names of authenticated peers, and one for all others."""

    def __init__(self) -> None:
        self._passed_ns: dict[str, int] = {}

    def passes(self, subject: str) -> bool:
        now_ns = monotonic_ns()
        if now_ns - self._passed_ns.get(subject, -EVERY_NS) < EVERY_NS:
            return False
        self._passed_ns[subject] = now_ns
        return True
