"""The history of a run as the checks of labs read it. Only events count, so a simulated and a real cluster are judged by the same code."""

from __future__ import annotations

from dataclasses import dataclass, field

from backend.picture import Picture
from backend.scenarios import letters
from backend.scenarios.conditions import Situation
from backend.scenarios.durations import nanoseconds
from backend.scenarios.facts import Facts
from backend.scenarios.model import ExpectPart
from backend.scenarios.outages import Outages
from backend.scenarios.verdicts import ExpectationVerdict, Judge
from nodes.config import ClusterConfig
from nodes.invariants import registry
from nodes.trace.events import Called, FaultInjected, Serving, SessionEnded, Stamped


@dataclass(frozen=True)
class FaultSeen:
    """A fault, with the roles that its targets had in the view when it began."""

    at_ns: int
    verb: str
    roles: dict[str, str]
    """Role by target."""


@dataclass(frozen=True)
class ServiceSeen:
    """A server began to serve a group."""

    at_ns: int
    group: str
    server: str
    epoch: int


@dataclass
class Noted:
    """What the values of labs refer to, in the order of time."""

    faults: list[FaultSeen] = field(default_factory=list)
    services: list[ServiceSeen] = field(default_factory=list)
    sessions_ended: list[tuple[int, str]] = field(default_factory=list)
    """(ns, server)."""
    last_success_ns: int = 0
    """When the last call returned a result."""
    counts: dict[str, int] = field(default_factory=dict)
    """Number of events by kind, since the workload began."""


class RunHistory:
    """The events of a run, reduced as they come."""

    def __init__(self, config: ClusterConfig, clients: list[str]):
        self.ended_ns = 0
        """The end of the run; until then the present."""
        self._picture = Picture.of(config, {}, clients)
        self.invariants = registry.start(config)
        self.situation = Situation(self._picture)
        self.outages = Outages()
        self.noted = Noted()
        self._began_ns: int | None = None
        self._counting = False
        self._rows = {group.name: letters.Rows(group.name, list(group.members)) for group in config.groups}
        self._judge = Judge(
            self.situation, self.invariants, self.outages, self._rows, Facts(), lambda text: nanoseconds(text)
        )

    @classmethod
    def of(
        cls, config: ClusterConfig, clients: list[str], began_ns: int, ended_ns: int, events: list[Stamped]
    ) -> RunHistory:
        """The history of a run that is over."""
        history = cls(config, clients)
        history.begin(began_ns)
        for stamped in events:
            history.on_event(stamped)
        history.finish(ended_ns)
        return history

    def begin(self, at_ns: int) -> None:
        """The workload begins at this instant; earlier events only make the state."""
        self._began_ns = at_ns

    def finish(self, at_ns: int) -> None:
        """The run ends at this instant."""
        self.ended_ns = at_ns
        self.invariants.finish()

    @property
    def groups(self) -> list[str]:
        return list(self._rows)

    def verdicts(self, expect: ExpectPart) -> list[ExpectationVerdict]:
        """Raises LabError for an unknown group."""
        return self._judge.verdicts(expect)

    @property
    def broken(self) -> list[str]:
        """Violated invariants, the first one first."""
        return list(dict.fromkeys(failure.invariant for failure in self.invariants.failures))

    def on_event(self, stamped: Stamped) -> None:
        after = self._began_ns is not None and stamped.at_ns > self._began_ns
        if after and not self._counting:
            self._counting = True
            self.situation.begin_count()
        if type(stamped.event) is FaultInjected:
            self._note_fault(stamped, stamped.event)
        self._picture.apply(stamped, self._picture.seq + 1)
        self.invariants.on_event(stamped)
        self.outages.on_event(stamped)
        self.situation.on_event(stamped)
        for rows in self._rows.values():
            rows.on_event(stamped)
        if after:
            self._note(stamped)

    def _note_fault(self, stamped: Stamped, fault: FaultInjected) -> None:
        servers = self._picture.servers
        roles = {name: servers[name].role if name in servers else "" for name in fault.targets}
        self.noted.faults.append(FaultSeen(stamped.at_ns, fault.verb, roles))

    def _note(self, stamped: Stamped) -> None:
        event, noted = stamped.event, self.noted
        kind = type(event).__name__
        noted.counts[kind] = noted.counts.get(kind, 0) + 1
        if type(event) is Serving:
            noted.services.append(ServiceSeen(stamped.at_ns, event.group, stamped.server, event.epoch))
        elif type(event) is SessionEnded:
            noted.sessions_ended.append((stamped.at_ns, event.server))
        elif type(event) is Called and not event.error:
            noted.last_success_ns = max(noted.last_success_ns, event.returned_ns)
