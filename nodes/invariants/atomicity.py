"""atomic across groups: an operation on several groups is on all of them or on none (nodes/invariants/README.md)."""

from __future__ import annotations

from nodes.invariants.checker import SECOND, Check, place_in_trace
from nodes.trace.events import SharedStep, Stamped

PATIENCE_NS = 120 * SECOND
"""Longest time for which an operation may be open: as long as a group may be without an active."""
KEPT = 50_000
"""Number of open operations that are kept, and of complete ones. A late event must not decide a complete one otherwise."""

Key = tuple[int, int]


class Shared:
    """One operation, as its groups have reported it."""

    __slots__ = ("began", "decisions", "done", "peers")

    def __init__(self, began: Stamped):
        self.began = began
        self.peers: list[int] = []
        self.decisions: dict[str, tuple[bool, tuple[str, int]]] = {}
        """By group: commit or abort, and the event that reports it."""
        self.done: set[str] = set()


class Atomic(Check):
    name = "atomic across groups"
    meaning = "an operation on several groups is carried out on all of them or on none"
    counts = "operations on several groups"

    def __init__(self, names: dict[int, str]) -> None:
        super().__init__()
        self.always = False
        self._names = names
        """Group names by number."""
        self.steps = {SharedStep: self._on_step}
        self._open: dict[Key, Shared] = {}
        self._whole: dict[Key, Shared] = {}

    def _on_step(self, stamped: Stamped, event: SharedStep) -> None:
        key = (event.coordinator, event.seq)
        shared = self._open.get(key) or self._whole.get(key)
        if shared is None:
            if event.step in ("end", "finish"):
                return
            shared = self._open[key] = Shared(stamped)
            if len(self._open) > KEPT:
                del self._open[next(iter(self._open))]
        if event.step == "begin":
            shared.peers = event.peers
        elif event.step in ("decide", "vote", "outcome"):
            self._on_decision(shared, stamped, event)
        if key in self._open and self._is_whole(key, shared):
            self.checked += 1
            self._whole[key] = self._open.pop(key)
            if len(self._whole) > KEPT:
                del self._whole[next(iter(self._whole))]

    def _on_decision(self, shared: Shared, stamped: Stamped, event: SharedStep) -> None:
        here = (event.commit, place_in_trace(stamped))
        for group, (commit, evidence) in shared.decisions.items():
            if commit != event.commit:
                words = {True: "committed", False: "aborted"}
                self.fail(
                    f"operation {event.seq} of {self._name(event.coordinator)} was {words[commit]} by {group} "
                    f"and {words[event.commit]} by {event.group}",
                    evidence,
                    here[1],
                )
                return
        shared.decisions[event.group if event.step != "decide" else f"{event.group} as coordinator"] = here

    def _is_whole(self, key: Key, shared: Shared) -> bool:
        """The coordinator and every participant have decided."""
        wanted = {self._name(number) for number in shared.peers}
        return (
            bool(wanted)
            and wanted <= set(shared.decisions)
            and f"{self._name(key[0])} as coordinator" in shared.decisions
        )

    def _name(self, number: int) -> str:
        return self._names.get(number, f"group {number}")

    def on_time(self, now_ns: int) -> None:
        """An operation that stays open for too long was lost by one of its groups."""
        for key, shared in list(self._open.items()):
            if shared.began.at_ns > now_ns - PATIENCE_NS:
                return
            del self._open[key]
            decided = {group for group, (commit, _) in shared.decisions.items() if commit}
            if decided and shared.peers:
                missing = {self._name(number) for number in shared.peers} - set(shared.decisions)
                self.fail(
                    f"operation {key[1]} of {self._name(key[0])} was committed by {', '.join(sorted(decided))} "
                    f"and never by {', '.join(sorted(missing)) or 'its coordinator'}",
                    place_in_trace(shared.began),
                )
