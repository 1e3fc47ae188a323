"""The stage of a trial: a simulated cluster, or real processes, behind one interface."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from nodes.client.files import FileClient
from nodes.client.smart_client import SmartClient
from nodes.explore.calls import Call, Caller
from nodes.explore.content import ContentRecord
from nodes.sim.triggers import Trigger
from nodes.states import ProcessState
from nodes.trace.events import Stamped


class StageMember(Protocol):
    """A server, data node, journal node or client by its name."""

    @property
    def group(self) -> str:
        """Group of a metadata server; empty for all others."""

    @property
    def process(self) -> ProcessState: ...

    @property
    def client(self) -> bool: ...

    @property
    def gone(self) -> bool:
        """Its machine is lost for ever."""


class FaultVerbs(Protocol):
    """The verbs of docs/faults.md. Each raises FaultUnsupported when it is impossible here or now."""

    @property
    def standing(self) -> Mapping[int, tuple[str, list[str]]]:
        """Standing faults: number to (verb, targets)."""

    def do(self, verb: str, targets: list[str], options: dict[str, Any] | None = None) -> int: ...

    def heal(
        self, a: Any = None, b: str | None = None, direction: str = "both", others: Any = None
    ) -> int: ...

    def heal_all(self) -> int: ...

    def restart(self, server: str) -> int: ...

    def resume(self, server: str) -> int: ...


class AuditClient(Protocol):
    """The audit's own client."""

    client: SmartClient
    files: FileClient

    def begin(self, procedure: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Runs a procedure of this client while the cluster runs."""

    def die(self) -> None:
        """Stops without ending its session."""


class Scripted(Protocol):
    """One process of a client of the plan, carrying out its calls."""

    @property
    def name(self) -> str: ...

    @property
    def begun(self) -> int: ...

    @property
    def answered(self) -> int: ...

    @property
    def done(self) -> bool:
        """Every call has returned, or its client has gone."""

    @property
    def under_way(self) -> Mapping[int, Call] | Mapping[int, str]:
        """Calls with a waiting client, by their number in the plan, as far as that is known."""

    @property
    def acknowledged(self) -> Mapping[str, ContentRecord]:
        """Acknowledged records of content by their tag."""

    def die(self) -> None:
        """Its process is killed."""


class Stage(Protocol):
    """A running cluster, driven step by step. Time passes only within `run_until`, `run_for`, `reaches`, `await_events` and `ask`.

    Many methods: everything that a trial does to a cluster, and reads of it.
    """

    @property
    def servers(self) -> Mapping[str, StageMember]: ...

    @property
    def places(self) -> Mapping[str, str]:
        """The place of each server in the global view."""

    @property
    def configured(self) -> Mapping[str, list[str]]:
        """The members of each group's present configuration, in families where it changes."""

    @property
    def faults(self) -> FaultVerbs: ...

    @property
    def now_ns(self) -> int: ...

    def on_event(self, callback: Callable[[Stamped], None]) -> None: ...

    def run_until(self, until: int | Callable[[], bool], limit_ns: int = ...) -> None:
        """Runs until a time or condition. Raises Stuck when it is not reached within the limit."""

    def run_for(self, duration_ns: int) -> None: ...

    def reaches(self, at_ns: int, true: Callable[[], bool]) -> bool:
        """Runs until a condition is true, or to a time; returns whether it is true."""

    def await_events(self) -> None:
        """Runs until the listeners have had all events up to now: those of real servers arrive later than their answers."""

    def at(self, at_ns: int, step: Callable[..., Any], *arguments: Any) -> None:
        """Takes a step when the cluster has run to this time."""

    def arm(self, trigger: Trigger, step: Callable[[], Any]) -> None:
        """Takes a step at a place in a server's progress. Raises FaultUnsupported."""

    def disarm_all(self) -> None:
        """Disarms all steps."""

    def settled(self) -> bool:
        """Whether every server that is not gone for ever is in step, and each group of a family with leaders has one."""

    def view(self) -> dict[str, str]: ...

    def answers(self, name: str, kind: str) -> bool: ...

    def ask(self, name: str, question: dict[str, Any]) -> Any:
        """Asks a server over the control connection, which no fault touches."""

    def begin_asking(self, name: str, question: dict[str, Any]) -> Any:
        """Asks a question without waiting for its answer."""

    @property
    def unanswered(self) -> list[str]:
        """Questions that may still be carried out, as text; a server that has died since answers none."""

    def clear_up(self) -> None:
        """The background losses of the plan's conditions end."""

    def mend_disk(self, name: str) -> None: ...

    def mend_coordination(self) -> None: ...

    def start_client(self, name: str, reports_calls: bool = False) -> AuditClient: ...

    def prepare(self, callers: Sequence[Caller]) -> None:
        """Prepares slow starts; the clients begin with `start_caller`."""

    def start_caller(self, caller: Caller) -> Scripted: ...

    def log_sha256(self) -> str:
        """Hash of the event log on stages where a plan determines it; else empty."""


def in_words(server: str, question: dict[str, Any]) -> str:
    return " ".join([server, *(str(word) for word in question.values())])
