"""Servers outside the view: the joiners known to a member, and the servers known to a joiner (SAA §6)."""

from __future__ import annotations

from nodes.protocols.symmetric.messages import JoinView, Welcome

KNOWN_MAX = 64


class Outsiders:
    """The recent JoinView and Welcome messages; those older than `lately_ns` do not count."""

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
        """Forgets all messages, because another view has begun or ended."""
        self._joins.clear()
        self._welcomes.clear()

    def joining(self, view: int, now_ns: int) -> dict[str, JoinView]:
        """The recent requests to join, of servers that know this view, by server."""
        since_ns = now_ns - self._lately_ns
        return {
            name: join
            for name, (at_ns, join) in self._joins.items()
            if at_ns >= since_ns and join.view == view
        }

    def hears(self, now_ns: int) -> list[str]:
        """The servers that have answered recently."""
        return [name for name, (at_ns, _) in self._welcomes.items() if at_ns >= now_ns - self._lately_ns]

    def view_lives(self, view: int, now_ns: int) -> bool:
        """Whether a member of this view has answered recently."""
        since_ns = now_ns - self._lately_ns
        return any(
            at_ns >= since_ns and welcome.member and welcome.view == view
            for at_ns, welcome in self._welcomes.values()
        )


def fit_to_join(join: JoinView, stay: list[str]) -> bool:
    """Whether all members that stay in the view have answered a joiner recently."""
    return set(stay) <= set(join.hears)
