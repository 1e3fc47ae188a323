"""A member's `Participation` in its group: it lasts as long as the process does, and a membership in the view is its service."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import asdict

from nodes.metadata_server.participation import Question
from nodes.protocols.symmetric.membership import Membership
from nodes.protocols.symmetric.replica import SymmetricReplica
from nodes.protocols.symmetric.requests import Requests
from nodes.protocols.symmetric.service import ViewService
from nodes.wire.messages import AskView, ViewCopy


class MemberSession:
    def __init__(self, replica: SymmetricReplica, requests: Requests, membership: Membership):
        self._replica = replica
        self._requests = requests
        self._membership = membership
        self.scope = replica.world.scope
        self.questions: dict[str, Question] = {
            "counters": lambda question: self._report_counters(),
            "force": lambda question: membership.force(),
            "change_view": lambda question: {"asked": membership.ask_for_change()},
        }

    def start(self) -> None:
        world, membership = self._replica.world, self._membership
        world.scope.spawn(membership.follow(), "views")
        world.coordination.on_state(membership.on_state)
        world.scope.at_end(membership.say_goodbye)

    @property
    def leader(self) -> ViewService | None:
        return self._membership.service

    @property
    def epoch(self) -> int:
        return self._membership.view_number

    @property
    def behind(self) -> bool:
        return self._replica.behind

    def _report_counters(self) -> dict[str, Any]:
        """Counters of the namespace, null outside the view, and this server's jobs and locks."""
        active, idle = self._requests.queues()
        under_way = asdict(self._replica.execution.under_way())
        counters = None if self.leader is None else self.leader.counters()
        return {"counters": counters, "pipeline": {"active": active, "idle": idle, **under_way}}

    def to_leader(
        self, step: Callable[[ViewService, str, Any], None], answers: bool = True
    ) -> Callable[[str, Any], None]:
        def deliver(peer: str, message: Any) -> None:
            if self.leader is not None:
                step(self.leader, peer, message)
            else:
                self._replica.ignoring.report(peer, message, "this server is outside the view")

        return deliver

    def refuse(self, peer: str, number: int) -> None:
        self._requests.refuse(peer, number, self._membership.hint())

    def on_ask_view(self, peer: str, message: AskView) -> None:
        membership = self._membership
        copy = ViewCopy(membership.view_number, membership.hint(), dict(membership.addresses.known))
        self._replica.world.network.send(peer, copy)
