"""Slot `cross_group`: selects the protocol for an operation on several groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.metadata.plans import Look, Split
from nodes.protocols.dcfs2 import messages as m
from nodes.protocols.dcfs2.coordinator import Coordinated
from nodes.protocols.dcfs2.paused_recovery import PausedRecovery
from nodes.protocols.dcfs2.reclamation import reclaim
from nodes.protocols.dcfs2.s2pc import S2pc
from nodes.slots import CrossGroup, GroupHost
from nodes.units import OpId
from nodes.wire.messages import Message


class Dcfs2:
    """S2PC-MP for two groups, two-phase commit for more; two-phase commit for all in the baseline."""

    def __init__(self, host: GroupHost, baseline: bool):
        self._host = host
        self._baseline = baseline
        self._s2pc = S2pc(host)
        self._coordinated = Coordinated(host, early=baseline)
        self._paused = PausedRecovery(host, self._s2pc) if host.unreplicated_paper else None
        s2pc, coordinated = self._s2pc, self._coordinated
        self._steps: dict[type[Message], Callable[[Any], None]] = {
            m.CommitReq: s2pc.on_commit_req,
            m.AbortReq: s2pc.on_abort_req,
            m.Ack: s2pc.on_ack,
            m.DecisionReq: s2pc.on_decision_req,
            m.OpReq: (lambda message: None) if baseline else s2pc.on_op_req,
            m.VoteReq: coordinated.on_vote_req,
            m.Vote: coordinated.on_reply,
            m.Decision: coordinated.on_decision,
            m.Decided: coordinated.on_decided,
            m.OutcomeReq: coordinated.on_outcome_req,
            m.Found: coordinated.on_reply,
        }
        if self._paused is not None:
            self._steps |= {
                m.RecoverBegin: self._paused.on_begin,
                m.RecoverBegun: self._paused.on_begun,
                m.RecoverEnd: self._paused.on_end,
                m.RecoverEnded: self._paused.on_ended,
            }

    @property
    def drains(self) -> bool:
        return self._coordinated.drains or self._host.draining

    def begin(self, op_id: OpId, lowest_open: int, plan: Split | Look, moves: int) -> None:
        if isinstance(plan, Look):
            self._coordinated.look(op_id, lowest_open, plan, moves)
        elif plan.coordinated or self._baseline:
            self._coordinated.begin(op_id, lowest_open, plan, moves)
        else:
            self._s2pc.begin(op_id, lowest_open, plan)

    def on_message(self, peer: str, message: Any) -> None:
        self._host.received(getattr(message, "at_ns", 0))
        asks = isinstance(message, m.OpReq | m.VoteReq)
        if asks and (self._host.full or (self._paused is not None and self._paused.recovering)):
            return
        if isinstance(message, m.LookUp):
            self._coordinated.on_look_up(peer, message)
        elif type(message) in self._steps:
            self._steps[type(message)](message)

    def resume(self) -> None:
        scope = self._host.scope
        if self._paused is None:
            self._s2pc.resume()
        else:
            self._paused.begin()
        self._coordinated.resume()
        scope.spawn(self._s2pc.resend(), "S2PC-MP, lost messages")
        scope.spawn(self._coordinated.resend(), "two-phase commit, lost messages")
        scope.spawn(reclaim(self._host, self), "reclaiming")


def s2pc_mp(host: GroupHost) -> CrossGroup:
    return Dcfs2(host, baseline=False)


def two_phase(host: GroupHost) -> CrossGroup:
    return Dcfs2(host, baseline=True)
