"""Submissions to the implementation labs: a reference solution of each, and typical wrong ones with the invariant that each must break."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent


class Mistake(NamedTuple):
    """A typical mistake: lines of the reference that it replaces."""

    name: str
    old: str
    new: str
    breaks: tuple[str, ...]
    """Invariants of which the first failing trial breaks one."""


LOST = ("no lost write", "dense journal", "same sn same state")
DIVERGED = ("same order", "dense journal", "no lost write", "same sn same state")

MISTAKES: dict[str, tuple[Mistake, ...]] = {
    "election": (
        Mistake("asks itself only", "return members - members // 2", "return 1", LOST),
        Mistake("trusts its own journal", "return max(sorted(ends), key=rank)", "return own", LOST),
        Mistake(
            "compares serial numbers only",
            "return ends[name].incarnation, ends[name].epoch, ends[name].sn, name == own",
            "return ends[name].sn, name == own",
            LOST,
        ),
        Mistake(
            "takes the shortest journal",
            "return max(sorted(ends), key=rank)",
            "return min(sorted(ends), key=rank)",
            LOST,
        ),
        Mistake(
            "uses the epoch again",
            "return max(last, promised) + 1",
            "return max(last, promised, 1)",
            ("one active", "dense journal", "service", "no lost write"),
        ),
        Mistake(
            "keeps no promise",
            "return epoch < promised",
            "return False",
            ("no lost write", "dense journal", "one active", "no exception"),
        ),
        Mistake(
            "refuses the present epoch", "return epoch < promised", "return epoch <= promised", ("service",)
        ),
        Mistake(
            "asks more than there are", "return members - members // 2", "return members + 1", ("service",)
        ),
    ),
    "renewing": (
        Mistake(
            "is never in step", "return confirmed and matched_sn >= last_sn", "return False", ("service",)
        ),
        Mistake(
            "waits for one group too many", "matched_sn >= last_sn", "matched_sn > last_sn", ("service",)
        ),
        Mistake(
            "believes old messages only",
            "return confirmed and matched",
            "return not confirmed and matched",
            ("service",),
        ),
        Mistake(
            "never counts",
            "return 2 * sum(member in holders for member in members) > len(members)",
            "return False",
            ("service",),
        ),
        Mistake("counts with less than half", "> len(members)", "< len(members)", ("service",)),
        Mistake("always reads from the pool", "return gap > direct or pruned", "return True", ("service",)),
    ),
    "fast-acknowledgement": (
        Mistake(
            "delivers at once",
            "            if not self.certain(message):\n                break\n",
            "",
            DIVERGED,
        ),
        Mistake(
            "waits for smaller ids only",
            "if member not in (self.own, message.sender)",
            "if member < message.sender and member != self.own",
            DIVERGED,
        ),
        Mistake(
            "own messages first",
            "        return sorted(self.waiting, key=self.key)",
            "        return sorted(self.waiting, key=lambda each: (each.sender != self.own, self.key(each)))",
            DIVERGED,
        ),
        Mistake(
            "a clock of its own",
            "self.clock = max(self.clock, message.stamp)",
            "self.clock = message.stamp if message.sender == self.own else self.clock",
            (*DIVERGED, "service"),
        ),
        Mistake(
            "waits for itself",
            "if member not in (self.own, message.sender)",
            "if member != message.sender",
            ("service",),
        ),
        Mistake(
            "acknowledges nothing",
            "return not self.own_undelivered() and self.owed > (self.newest[self.own], self.own)",
            "return False",
            ("service",),
        ),
        Mistake(
            "orders by sender",
            "return message.stamp, message.sender",
            "return message.sender, message.stamp",
            (*DIVERGED, "service"),
        ),
    ),
    "replication": (
        Mistake(
            "answers when its own disk has it",
            "return 2 * len(self.holders(sn)) > len(self._replica.group.members)",
            "return self._own_sn >= sn",
            LOST,
        ),
        Mistake(
            "asks and keeps its own journal",
            "if best is None or rank(best.last) <= rank(log.last):",
            "if True:",
            (*LOST, "no exception"),
        ),
        Mistake(
            "compares serial numbers only",
            "return mark.incarnation, mark.epoch, mark.sn",
            "return mark.sn",
            (*LOST, "no exception"),
        ),
        Mistake(
            "keeps no promise",
            "if message.epoch < self.promised or self._leads(message.epoch):",
            "if self._leads(message.epoch):",
            (*LOST, "no exception", "service"),
        ),
        Mistake(
            "sends nothing again", "            self._copies.resend()\n", "            pass\n", ("service",)
        ),
        Mistake(
            "does not wait for the lease of the old active",
            "        await wait_out_old_leases(replica)\n",
            "",
            ("one active", "linearisable"),
        ),
    ),
}


SEEN = {
    "election": ("asks itself only", "trusts its own journal"),
    "renewing": ("is never in step", "waits for one group too many"),
    "fast-acknowledgement": ("delivers at once", "waits for smaller ids only", "own messages first"),
    "replication": ("answers when its own disk has it", "asks and keeps its own journal"),
}
"""The mistakes that are known to be found for their reason; the tests run these. `bench grade` counts how many of all are."""


def reference(lab: str) -> Path:
    return FOLDER / f"{lab}.py.txt"


def wrong(lab: str, mistake: Mistake) -> str:
    """The source of the reference with this mistake. Raises ValueError when the reference has changed."""
    source = reference(lab).read_text()
    if source.count(mistake.old) != 1:
        raise ValueError(f"{mistake.name}: the reference does not have its line once")
    return source.replace(mistake.old, mistake.new)
