"""Crashes of servers at one step, or at one message."""

from __future__ import annotations

from collections.abc import Callable

from nodes.config import SECOND, WorkloadConfig
from nodes.metadata.operations import Mkdir, Stat
from nodes.trace.events import Stamped, StepTaken
from nodes.wire.messages import Message
from tests.simulation.mams.lab import Lab

LIMIT_NS = 60 * SECOND
COUNT = 50


class Blow:
    """A crash that happens once, at the first match; `fallen` lists the crashed servers."""

    def __init__(self, lab: Lab, verb: str = "crash"):
        self._lab = lab
        self._verb = verb
        self.fallen: list[str] = []

    def at_step(self, procedure: str, step: str, victims: Callable[[str], list[str]]) -> Blow:
        """Crashes at a server's event of this step: no message that it sends in that moment arrives."""

        def look(stamped: Stamped) -> None:
            event = stamped.event
            if type(event) is StepTaken and (event.procedure, event.step) == (procedure, step):
                self._fall(victims(stamped.server))

        self._lab.cluster.on_event(look)
        return self

    def at_message(self, match: Callable[[str, str, Message], str]) -> Blow:
        """Crashes at a message for which `match` names a victim. A victim that receives never gets the message; a victim that sends gets nothing
        out after it."""

        def look(sender: str, receiver: str, message: Message) -> bool:
            if not self.fallen:
                victim = match(sender, receiver, message)
                self._fall([victim] if victim else [])
            return False

        self._lab.cluster.hold(look)
        return self

    def _fall(self, victims: list[str]) -> None:
        if self.fallen or not victims:
            return
        self.fallen = victims
        last_words = self._lab.cluster.hold(lambda sender, receiver, message: sender in victims)

        def apply_fault() -> None:
            last_words.drop()
            self._lab.faults.do(self._verb, victims)

        self._lab.cluster.loop.at(self._lab.cluster.now_ns, apply_fault)

    def await_it(self) -> None:
        self._lab.cluster.run_until(lambda: bool(self.fallen), LIMIT_NS)
        self._lab.run_ms(1)


def others_of(lab: Lab, *names: str) -> list[str]:
    """The other running servers of the group, in order."""
    running = [name for name, server in lab.cluster.servers.items() if server.process == "running"]
    return [name for name in running if name in lab.cluster.view() and name not in names]


def works(lab: Lab) -> None:
    """Starts clients, which continue through all crashes."""
    mix: dict[str, float] = {"create": 6, "mkdir": 1, "stat": 3}
    lab.cluster.add_workload(WorkloadConfig(clients=4, rate_per_s=200, mix=mix, count=COUNT))
    workload = lab.cluster.workload
    lab.cluster.run_until(lambda: workload is not None and workload.counts().get("ok", 0) > 20)


def goes_on(lab: Lab) -> None:
    """Clients are served without the crashed servers. With all servers again no write is lost, no call failed, and every invariant holds."""
    served = lab.begin(lab.ada, Mkdir("/without-them"))
    lab.cluster.run_until(served.done, LIMIT_NS)
    workload = lab.cluster.workload
    assert workload is not None
    lab.cluster.run_until(lambda: workload.finished, LIMIT_NS)
    lab.finish()
    assert lab.broken() == {}
    assert set(workload.counts()) <= {"ok", "ENOENT"}, workload.counts()
    lab.eve.call(Stat("/without-them"))
    lab.ada.call(Mkdir("/after"))
