"""Rows of the global view: one letter for each server (nodes/roles.py), `-` for a server without a place in it.

Changes told with the same time are one row. Expected rows must appear in their order under one renaming of the standby
columns. Others are allowed only while something is under way: from a fault, its end, a lost lock or a standby that fell
out of step and is to be renewed, until an active serves, nobody is junior, and exactly those who are away have no place.
"""

from __future__ import annotations

from itertools import permutations

import msgspec

from nodes.roles import BEHIND, LETTERS
from nodes.trace.events import FaultEnded, FaultInjected, LockHeld, Placed, Serving, SessionEnded, Stamped

LEADERS = "AP"
TAKES_AWAY = ("crash", "stop", "power_loss", "pause", "cut")


class Row(msgspec.Struct, frozen=True):
    at_ns: int
    letters: str
    under_way: bool
    """A takeover or a renewing was going on."""


class Rows:
    """Collects the rows of one group from its events."""

    def __init__(self, group: str, servers: list[str]):
        self._group = group
        self.servers = servers
        self._letters = dict.fromkeys(servers, "-")
        self._away: dict[int, list[str]] = {}
        self._under_way = True
        self._serving = False
        self._rows: list[Row] = []

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        if type(event) is Placed and event.server in self._letters:
            fell = self._letters[event.server] == "S" and event.state in BEHIND
            self._under_way = self._under_way or fell
            self._letters[event.server] = LETTERS[event.state]
            self._add(stamped.at_ns)
        elif type(event) is FaultInjected:
            self._under_way = True
            if event.verb in TAKES_AWAY and (event.verb != "cut" or len(event.targets) == 1):
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
        """Nothing is under way once the view is what the faults in force leave of it."""
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
        row = Row(at_ns, letters, self._under_way)
        if self._rows and self._rows[-1].at_ns == at_ns:
            self._rows[-1] = row
        else:
            self._rows.append(row)

    @property
    def all(self) -> list[Row]:
        """Each row that differs from the one before it."""
        found: list[Row] = []
        for row in self._rows:
            if not found or found[-1].letters != row.letters:
                found.append(row)
        return found


class Match(msgspec.Struct, frozen=True):
    """How expected rows were found."""

    columns: list[str]
    """The server behind each column."""
    between: list[str]
    """Rows in between, which were allowed."""


def match(rows: list[Row], servers: list[str], expected: list[str], any_order: bool) -> Match | str:
    """A match, or one line that says how far the best renaming came."""
    wanted = [row.replace(" ", "") for row in expected]
    if any(len(row) != len(servers) for row in wanted):
        return f"the rows have {len(wanted[0])} letters, the cluster has {len(servers)} servers"
    begin = next((place for place, row in enumerate(rows) if sorted(row.letters) == sorted(wanted[0])), None)
    if begin is None:
        return f"the row {wanted[0]} never came"
    seen = rows[begin:]
    leads = next((letter for letter in LEADERS if letter in wanted[0]), "")
    first = seen[0].letters.index(leads) if leads else 0
    others = [place for place in range(len(servers)) if place != first]
    orders = permutations(others) if any_order else iter([tuple(others)])
    best, most = "", -1
    for order in orders:
        columns = list(order)
        columns.insert(wanted[0].index(leads) if leads else 0, first)
        reached, between, problem = follow(seen, columns, wanted)
        if not problem:
            return Match([servers[column] for column in columns], between)
        if reached > most:
            best, most = problem, reached
    return best


def follow(rows: list[Row], columns: list[int], wanted: list[str]) -> tuple[int, list[str], str]:
    """How many wanted rows came in order, the rows in between, and what is wrong (empty when nothing is)."""
    reached, between = 0, []
    for row in rows:
        letters = "".join(row.letters[column] for column in columns)
        if reached < len(wanted) and letters == wanted[reached]:
            reached += 1
        elif row.under_way:
            between.append(letters)
        else:
            return (
                reached,
                between,
                f"{letters} came after {wanted[max(0, reached - 1)]} while nothing was under way",
            )
    if reached < len(wanted):
        came = ", ".join(between[-4:]) or "nothing"
        return (
            reached,
            between,
            f"{wanted[reached]} never came after {wanted[max(0, reached - 1)]}; then came {came}",
        )
    return reached, between, ""
