"""Rows of the global view: one role letter for each server (nodes/roles.py), `-` for a server without a place in it.

Changes with the same time form one row. Expected rows must appear in their order. Servers with the same letter may exchange their places in
later rows, because any standby may get the lock. Other rows are allowed only during a transition. A fault, the end of a fault, a lost lock,
or a standby that fell out of step begins a transition. It ends when an active serves, no server is junior, and exactly the servers that are
down have no place.
"""

from __future__ import annotations

from itertools import zip_longest

import msgspec

from nodes.faults.table import AWAY
from nodes.roles import BEHIND, LETTERS
from nodes.trace.events import FaultEnded, FaultInjected, LockHeld, Placed, Serving, SessionEnded, Stamped

LEADERS = "AP"


class LetterRow(msgspec.Struct, frozen=True):
    at_ns: int
    letters: str
    under_way: bool
    """True during a takeover or a renewing."""


class Rows:
    """Collects the rows of one group from its events."""

    def __init__(self, group: str, servers: list[str]):
        self._group = group
        self.servers = servers
        self._letters = dict.fromkeys(servers, "-")
        self._away: dict[int, list[str]] = {}
        self._under_way = True
        self._serving = False
        self._rows: list[LetterRow] = []

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Placed and event.server in self._letters:
            fell = self._letters[event.server] == "S" and event.state in BEHIND
            self._under_way = self._under_way or fell
            self._letters[event.server] = LETTERS[event.state]
            self._add(stamped.at_ns)
        elif type(event) is FaultInjected:
            self._under_way = True
            if event.verb in AWAY and (event.verb != "cut" or len(event.targets) == 1):
                self._away[event.fault] = list(event.targets)
        elif type(event) is FaultEnded:
            self._under_way = True
            self._away.pop(event.fault, None)
        elif type(event) is SessionEnded:
            self._under_way = True
        elif type(event) is LockHeld and not event.owner and event.group == self._group:
            self._under_way, self._serving = True, False
        elif type(event) is Serving and event.group == self._group:
            self._serving = True
        self._look()

    def _look(self) -> None:
        """Ends the transition once the view agrees with the faults in force."""
        letters = self._letters
        away = {name for names in self._away.values() for name in names}
        if (
            self._under_way
            and self._serving
            and any(letter in LEADERS for letter in letters.values())
            and "J" not in letters.values()
            and all((letters[name] == "-") == (name in away) for name in letters)
        ):
            self._under_way = False

    def _add(self, at_ns: int) -> None:
        letters = "".join(self._letters[name] for name in self.servers)
        row = LetterRow(at_ns, letters, self._under_way)
        if self._rows and self._rows[-1].at_ns == at_ns:
            self._rows[-1] = row
        else:
            self._rows.append(row)

    @property
    def all(self) -> list[LetterRow]:
        """The rows without repetitions."""
        found: list[LetterRow] = []
        for row in self._rows:
            if not found or found[-1].letters != row.letters:
                found.append(row)
        return found


def match(rows: list[LetterRow], expected: list[str], any_order: bool) -> list[str] | str:
    """The rows between the expected ones, which were allowed, or one line that names the row that is missing or forbidden."""
    wanted = [row.replace(" ", "") for row in expected]
    odd = next((row for row in wanted if rows and len(row) != len(rows[0].letters)), "")
    if odd:
        return f"the row {odd} has {len(odd)} roles, the cluster has {len(rows[0].letters)} servers"
    begin = next(
        (place for place, row in enumerate(rows) if leads_to("", row.letters, "", wanted[0], any_order)), None
    )
    if begin is None:
        return f"the row {wanted[0]} never came"
    last, reached, between = rows[begin].letters, 1, list[str]()
    for row in rows[begin + 1 :]:
        before = wanted[reached - 1]
        if reached < len(wanted) and leads_to(last, row.letters, before, wanted[reached], any_order):
            last, reached = row.letters, reached + 1
        elif row.under_way:
            between.append(row.letters)
        else:
            return f"{row.letters} came after {last} (expected as {before}) without a transition under way"
    if reached < len(wanted):
        came = ", ".join(between[-4:]) or "nothing"
        return (
            f"{wanted[reached]} never came after {last} (expected as {wanted[reached - 1]}); then came {came}"
        )
    return between


def leads_to(last: str, now: str, wanted_last: str, wanted: str, any_order: bool) -> bool:
    """Whether the step from the last row to this one is the wanted step: the same changes of letters, if need be on other servers. Without a
    last row, only the letters count."""
    if not any_order:
        return now == wanted
    return sorted(zip_longest(last, now)) == sorted(zip_longest(wanted_last, wanted))
