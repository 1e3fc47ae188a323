"""Servers outside the view: the joiners known to a member, and the servers known to a joiner (SAA §6)."""

from __future__ import annotations

from nodes.protocols.symmetric.messages import JoinView, Welcome

KNOWN_MAX = 64
PATIENCE_MAX = 8
"""Most steps of an attempt for which a joiner does not ask to be invited."""


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


class Invitations:
    """When a joiner asks to be invited. Writes wait while a view changes, so one that is too slow for every change asks less and less often."""

    def __init__(self, step_ns: int):
        """`step_ns`: time that a server which is too slow costs a view change."""
        self._step_ns = step_ns
        self._in_vain = 0
        """Number of views that were made without this server, though it was asked for its journal's end."""
        self._view = 0
        """The last of them."""
        self._from_ns = 0

    def wanted(self, now_ns: int) -> bool:
        return now_ns >= self._from_ns

    def came_to_nothing(self, view: int, now_ns: int) -> None:
        """The view was made without this server."""
        if view == self._view:
            return
        steps = min(2 ** min(self._in_vain, PATIENCE_MAX) - 1, PATIENCE_MAX)
        self._view, self._from_ns = view, now_ns + steps * self._step_ns
        self._in_vain += 1


def fit_to_join(join: JoinView, stay: list[str]) -> bool:
    """Whether all members that stay in the view have answered a joiner recently."""
    return set(stay) <= set(join.hears)
