"""A simulated cluster of several groups that marks checkpoints and rolls back to them."""

from __future__ import annotations

import asyncio
from typing import Any

from nodes.config import MILLISECOND, SECOND
from nodes.errors import FsError
from nodes.metadata.operations import Create, Mkdir, Operation
from nodes.roles import LEADING
from nodes.trace.checkpoints import BarrierWritten, TakenBack
from nodes.trace.events import RoleChanged, StepTaken
from nodes.wire.messages import Answer
from tests.simulation.dcfs2.lab import SETTLE_NS, Groups

ANSWER_NS = 30 * SECOND


class Checkpoints(Groups):
    def ask(self, question: dict[str, Any], server: str = "") -> Any:
        """Queries a server, by default the first group's active."""
        task = self.begin(question, server)
        self.cluster.run_until(task.done, ANSWER_NS)
        return task.result()

    def begin(self, question: dict[str, Any], server: str = "") -> asyncio.Task[Any]:
        return self.cluster.begin_asking(server or self.active(1), question)

    def mark(self, name: str, server: str = "") -> dict[str, Any]:
        """Marks a checkpoint, which must become complete."""
        answer = self.ask({"do": "mark_checkpoint", "name": name}, server)
        assert answer.get("checkpoint", {}).get("state") == "complete", answer
        return dict(answer["checkpoint"])

    def begin_mark(self, name: str, server: str = "") -> asyncio.Task[Any]:
        return self.begin({"do": "mark_checkpoint", "name": name}, server)

    def states(self) -> dict[str, str]:
        return {each["name"]: each["state"] for each in self.ask({"do": "checkpoints"})["checkpoints"]}

    def recover(self, name: str) -> None:
        """Rolls back, and waits until every group serves again."""
        answer = self.ask({"do": "recover", "name": name})
        assert answer.get("checkpoint") == name, answer
        self.run_ms(50)
        self.settle()

    def refusal(self, question: dict[str, Any]) -> str:
        line = str(self.ask(question).get("refused", ""))
        assert "\n" not in line
        return line

    def run_ms(self, duration: int) -> None:
        self.cluster.run_for(duration * MILLISECOND)

    def reported(self, kind: type, server: str = "") -> list[Any]:
        return [s.event for s in self.cluster.events if type(s.event) is kind and server in ("", s.server)]

    def steps(self, step: str) -> list[str]:
        """The servers that have taken this step of marking."""
        return [
            s.server
            for s in self.cluster.events
            if type(s.event) is StepTaken and (s.event.procedure, s.event.step) == ("checkpoint", step)
        ]

    def barriers(self, name: str) -> dict[str, BarrierWritten]:
        return {each.group: each for each in self.reported(BarrierWritten) if each.name == name}

    def taken_back(self) -> list[TakenBack]:
        return self.reported(TakenBack)

    def content(self) -> list[dict[int, Any]]:
        """Inodes and dentries of every group."""
        return [page.inodes for page in self.pages()]

    def call(self, operation: Operation) -> Answer:
        """A call by ada, sent once more where a recovery has forgotten her session."""
        try:
            return self.ada.call(operation)
        except FsError as error:
            if error.name != "ESTALE":
                raise
            return self.ada.call(operation)

    def fill(self, name: str, count: int = 6) -> None:
        """Directories in several groups, and files in them."""
        self.call(Mkdir(f"/{name}"))
        for number in range(count):
            self.call(Mkdir(f"/{name}/d{number}"))
            self.call(Create(f"/{name}/d{number}/f"))

    def settle(self) -> None:
        """Waits until every server is in step, and every group serves."""
        self.cluster.run_until(lambda: self.cluster.settled() and self.serve(), SETTLE_NS)

    def serve(self) -> bool:
        roles = {s.server: s.event.role for s in self.cluster.events if type(s.event) is RoleChanged}
        return all(roles[self.active(group.number)] in LEADING for group in self.config.groups)
