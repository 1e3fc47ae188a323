"""The labs in which a student writes a part of a server: which part, with which imports, in which trials."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import msgspec

from nodes.config import ServerConfig
from nodes.explore.plan import Plan
from nodes.families import FAMILIES, Family
from nodes.grading.adapters import SubmittedElection, SubmittedOrder, SubmittedRenewing
from nodes.grading.loader import STANDARD, BadSubmission
from nodes.grading.plans import of_family, plan_of
from nodes.mechanisms import start_with
from nodes.protocols.mams import mechanism as mams
from nodes.protocols.mams.rules import RULES
from nodes.protocols.symmetric import mechanism as symmetric
from nodes.wire.messages import Message
from nodes.world import World

StartServer = Callable[[World, ServerConfig], None]


class LabTask(msgspec.Struct, frozen=True):
    """One implementation lab."""

    name: str
    part: str
    """The class that the submission defines; empty for a whole family, which defines `start` and `MESSAGES`."""
    methods: tuple[str, ...]
    protocol: str
    start: Callable[[ModuleType], StartServer]
    """The server with this module in the place of the part."""
    imports: tuple[str, ...] = ()
    """Modules that the lab gives beside those of Python."""
    verbs: tuple[str, ...] = ()
    """Faults of its trials, if these are drawn for another family."""
    drawn_as: str = ""
    """The family that the trials are drawn for, where the explorer does not know the lab's own."""

    @property
    def allowed(self) -> tuple[str, ...]:
        return (*STANDARD, *self.imports)

    def plan(self, seed: int) -> Plan:
        plan = plan_of(seed, self.drawn_as or self.protocol)
        return of_family(plan, self.protocol, self.verbs) if self.drawn_as else plan

    def check(self, module: ModuleType) -> None:
        """Raises BadSubmission when the module lacks the class or a method."""
        if not self.part:
            for name in self.methods:
                if not callable(vars(module).get(name)):
                    raise BadSubmission(f"the submission has no function {name}")
            return
        part = vars(module).get(self.part)
        if not isinstance(part, type):
            raise BadSubmission(f"the submission has no class {self.part}")
        lacking = [method for method in self.methods if not callable(getattr(part, method, None))]
        if lacking:
            raise BadSubmission(f"{self.part} has no method {lacking[0]}")


def with_election(module: ModuleType) -> StartServer:
    rules = RULES._replace(election=SubmittedElection(made(module, "Election")))
    return partial(start_with, partial(mams.start, rules=rules))


def with_renewing(module: ModuleType) -> StartServer:
    rules = RULES._replace(renewing=SubmittedRenewing(made(module, "Renewing")))
    return partial(start_with, partial(mams.start, rules=rules))


def with_order(module: ModuleType) -> StartServer:
    def make_order(name: str, literal: bool, own: int, size: int) -> Any:
        return SubmittedOrder(made(module, "FastOrder", own, size))

    return partial(start_with, partial(symmetric.start, make_order=make_order))


def with_replication(module: ModuleType) -> StartServer:
    return partial(start_with, vars(module)["start"])


def messages_of(module: ModuleType) -> tuple[type[Message], ...]:
    """The types of message that a family of the submission adds. Raises BadSubmission."""
    kinds = vars(module).get("MESSAGES", ())
    if not isinstance(kinds, tuple) or not all(
        isinstance(kind, type) and issubclass(kind, Message) for kind in kinds
    ):
        raise BadSubmission("MESSAGES must be what `about` returns: a tuple of message types")
    return kinds


def made(module: ModuleType, part: str, *arguments: Any) -> Any:
    """An object of the submission's class. Raises BadSubmission."""
    try:
        return vars(module)[part](*arguments)
    except Exception as error:
        raise BadSubmission(f"{part}(…) fails: {type(error).__name__}: {error}") from None


WRITTEN = "written"
"""Name of the family that a submission is."""
FAMILIES.setdefault(
    WRITTEN, Family(WRITTEN, "a family of a student", standbys=2, standbys_max=4, groups_max=1, majority=True)
)
GIVEN = (
    "nodes.config", "nodes.listeners", "nodes.metadata_server.own_journal", "nodes.metadata_server.replica", "nodes.metadata_server.server",
    "nodes.metadata_server.tenure", "nodes.replicas.fresh_start", "nodes.replicas.leader", "nodes.replicas.log", "nodes.replicas.session",
    "nodes.replicas.view", "nodes.replicas.view_watcher", "nodes.wake", "nodes.wire.messages",
)  # fmt: skip
SURVIVED = (
    "crash", "restart", "respawn", "power_loss", "pause", "cut", "heal", "heal_all", "delay", "lose", "duplicate", "reorder", "take_lock",
    "expire_session", "slow_disk",
)  # fmt: skip
"""What a family with a fixed membership promises to survive: nothing that takes the content of a disk away."""

TASKS = {
    task.name: task
    for task in (
        LabTask("election", "Election", ("winner", "next_epoch", "refuses", "read_quorum", "newest"), "mams", with_election),
        LabTask(
            "renewing", "Renewing", ("next_junior", "reads_from_pool", "wants_image", "in_step", "may_count"), "mams", with_renewing
        ),
        LabTask(
            "fast-acknowledgement", "FastOrder", ("next_stamp", "accept", "deliverable", "owes", "undelivered", "own_undelivered"), "symmetric",
            with_order,
        ),
        LabTask("replication", "", ("start",), WRITTEN, with_replication, GIVEN, SURVIVED, "mams"),
    )
}  # fmt: skip
"""The implementation labs by name."""
