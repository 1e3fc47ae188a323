"""Servers outside the view: whom a member hears asking to come in, and whom one that is outside hears (SAA §6)."""

from __future__ import annotations

from nodes.protocols.symmetric.messages import JoinView, Welcome

KNOWN_MAX = 64


class Outside:
    """What was heard of late; everything older than `lately_ns` is forgotten."""

    def __init__(self, lately_ns: int):
        self._lately_ns = lately_ns
        self._joins: dict[str, tuple[int, JoinView]] = {}
        self._welcomes: dict[str, tuple[int, Welcome]] = {}

    def on_join(self, peer: str, message: JoinView, now_ns: int) -> None:
        if peer in self._joins or len(self._joins) < KNOWN_MAX:
            self._joins[peer] = (now_ns, message)

    def on_welcome(self, peer: str, message: Welcome, now_ns: int) -> None:
        if peer in self._welcomes or len(self._welcomes) < KNOWN_MAX:
            self._welcomes[peer] = (now_ns, message)

    def forget(self) -> None:
        """There is another view."""
        self._joins.clear()
        self._welcomes.clear()

    def joining(self, view: int, now_ns: int) -> dict[str, JoinView]:
        """Servers that asked lately to follow this view."""
        since_ns = now_ns - self._lately_ns
        return {
            name: join
            for name, (at_ns, join) in self._joins.items()
            if at_ns >= since_ns and join.view == view
        }

    def hears(self, now_ns: int) -> list[str]:
        """Servers that have answered lately."""
        return [name for name, (at_ns, _) in self._welcomes.items() if at_ns >= now_ns - self._lately_ns]

    def view_lives(self, view: int, now_ns: int) -> bool:
        """Whether a member of this view has answered lately."""
        since_ns = now_ns - self._lately_ns
        return any(
            at_ns >= since_ns and welcome.member and welcome.view == view
            for at_ns, welcome in self._welcomes.values()
        )


def fit_to_join(join: JoinView, stay: list[str]) -> bool:
    """Whether a joiner hears everybody whom it is to be in a view with."""
    return set(stay) <= set(join.hears)
