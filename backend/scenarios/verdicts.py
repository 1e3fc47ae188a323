"""Expectations compared with the state that events and queries show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from backend.errors import Malformed
from backend.picture import Picture
from backend.scenarios import letters
from backend.scenarios.conditions import Situation
from backend.scenarios.facts import Facts
from backend.scenarios.model import ExpectPart
from backend.scenarios.outages import Outages
from nodes.invariants.registry import InvariantChecks


class ExpectationVerdict(msgspec.Struct):
    """One expectation and its result."""

    expected: str
    held: bool
    seen: str


@dataclass(eq=False)
class Judge:
    """Collects the state that expectations refer to. `ns` turns a duration of the file into nanoseconds of this run."""

    _situation: Situation
    _checks: InvariantChecks
    _outages: Outages
    _rows: dict[str, letters.Rows]
    _facts: Facts
    _ns: Callable[[str], int]

    def verdicts(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        """Raises LabError for an unknown group."""
        return [
            *self._of_view(expect),
            *self._of_calls(expect),
            *self._of_checkpoints(expect),
            *self._of_content(expect),
            *self._reported(expect),
            *self._invariants(expect),
            *([] if expect.rows is None else [self._rows_seen(expect)]),
        ]

    def _of_view(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        found: list[ExpectationVerdict] = []
        if expect.roles is not None:
            found.append(self._roles_now(expect))
        if expect.serving is not None:
            now = self._situation.serves(expect.group)
            held = now == expect.serving
            seen = str(now) if held else f"{now}; {standing(self._situation.picture, expect.group)}"
            found.append(ExpectationVerdict(f"serving: {expect.serving}", held, seen))
        if expect.settled is not None:
            now = self._situation.settled
            held = now == expect.settled
            seen = str(now) if held else f"{now}; {standing(self._situation.picture)}"
            found.append(ExpectationVerdict(f"settled: {expect.settled}", held, seen))
        return found

    def _of_calls(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        found: list[ExpectationVerdict] = []
        outages = self._outages
        if expect.failed_calls is not None:
            seen = "; ".join([f"{outages.failed} of {outages.calls}", *outages.failures[:1]])
            few = outages.failed <= expect.failed_calls
            found.append(ExpectationVerdict(f"failed calls ≤ {expect.failed_calls}", few, seen))
        if expect.longest_outage is not None:
            most_ns, longest = self._ns(expect.longest_outage), outages.longest_ns
            found.append(
                ExpectationVerdict(
                    f"longest outage ≤ {most_ns / 1e9:g} s", longest <= most_ns, f"{longest / 1e9:.3f} s"
                )
            )
        return found

    def _of_checkpoints(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        found: list[ExpectationVerdict] = []
        for name, wanted in expect.checkpoints.items():
            now = self._facts.checkpoints.get(name, "not known")
            meant = ("void", "not known") if wanted == "incomplete" else (wanted,)
            found.append(ExpectationVerdict(f"checkpoint {name}: {wanted}", now in meant, now))
        if expect.rolled_back is not None:
            others = self._situation.not_rolled_back(expect.rolled_back)
            seen = f"not {', '.join(others)}" if others else "every server that runs"
            found.append(ExpectationVerdict(f"rolled back to {expect.rolled_back}", not others, seen))
        if expect.quarantined is not None:
            count = self._situation.quarantined
            found.append(
                ExpectationVerdict(
                    f"quarantined ≥ {expect.quarantined}", count >= expect.quarantined, str(count)
                )
            )
        return found

    def _of_content(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        found: list[ExpectationVerdict] = []
        if expect.fsck is not None:
            faults = self._facts.faults
            seen = "clean" if not faults else f"{len(faults)} faults: {faults[0]}"
            found.append(ExpectationVerdict("fsck: clean", not faults, seen))
        if expect.blocks is not None:
            unwell = self._situation.unwell
            seen = ", ".join(f"{count} {health}" for health, count in unwell.items()) or "whole"
            found.append(ExpectationVerdict("blocks: whole", not unwell, seen))
        return found

    def _reported(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        count = self._situation.count_reported
        return [
            ExpectationVerdict(f"told {kind} ≥ {least}", count(kind) >= least, str(count(kind)))
            for kind, least in expect.reported.items()
        ]

    def _rows_of(self, expect: ExpectPart) -> letters.Rows:
        rows = self._rows.get(expect.group)
        if rows is None:
            raise Malformed(f"no group is called {expect.group!r}; there are {', '.join(self._rows)}")
        return rows

    def _roles_now(self, expect: ExpectPart) -> ExpectationVerdict:
        assert expect.roles is not None
        rows, wanted = self._rows_of(expect).all, expect.roles.replace(" ", "")
        now = rows[-1].letters if rows else ""
        same = sorted(now) == sorted(wanted) if expect.any_order_of == "standbys" else now == wanted
        return ExpectationVerdict(f"roles {wanted}", same, now)

    def _invariants(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        red = {
            status["invariant"]: status["explanation"]
            for status in self._checks.invariants()
            if status["state"] == "red"
        }
        found: list[ExpectationVerdict] = []
        if expect.invariants is not None:
            every = [status["invariant"] for status in self._checks.invariants()]
            names = every if expect.invariants == "all" else expect.invariants
            unheld = {each.invariant: each.explanation for each in self._checks.unjudged} | red
            found += [
                ExpectationVerdict(f"invariant: {n}", n not in unheld, unheld.get(n, "held")) for n in names
            ]
        if expect.broken is not None:
            which = [name for name in expect.broken if name in red]
            seen = "; ".join(f"{name}: {red[name]}" for name in which) or "all held"
            found.append(ExpectationVerdict(f"broken: {' or '.join(expect.broken)}", bool(which), seen))
        return found

    def _rows_seen(self, expect: ExpectPart) -> ExpectationVerdict:
        assert expect.rows is not None
        any_order = expect.rows.any_order_of == "standbys"
        rows = self._rows_of(expect)
        seen = letters.match(rows.all, expect.rows.roles, any_order)
        expected = f"rows {' '.join(row.replace(' ', '') for row in expect.rows.roles)}"
        if isinstance(seen, str):
            return ExpectationVerdict(expected, False, seen)
        return ExpectationVerdict(expected, True, f"in between: {', '.join(seen) or 'none'}")


def standing(picture: Picture, group: str = "") -> str:
    """What every server of the group, or of all groups, is and believes to be: why an expectation did not hold."""
    return ", ".join(
        f"{server.name} {server.process} as {server.role} at sn {server.sn} of epoch {server.epoch}"
        + ("" if server.believes == server.role else f" (believes {server.believes})")
        for server in picture.servers.values()
        if group in ("", server.group)
    )
