"""Faults of a trial on real processes. An unsupported fault raises the same error as an impossible one on the simulator."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from backend.errors import LabError
from backend.fabrics.faults import OF_THE_DISK, FaultInjection
from backend.names import EVERYBODY
from nodes.faults.check import FaultUnsupported, options_of, verb_named
from nodes.faults.table import BY_NAME

if TYPE_CHECKING:
    from backend.explore.real_stage import RealStage

GONE = "gone"


class RealFaults:
    """Faults that are complete when the call returns. Restarts are the exception: a process takes a second to start, and others need not wait."""

    def __init__(self, stage: RealStage):
        self._stage = stage
        self._fabric = stage.fabric
        self._faults = FaultInjection(stage.fabric)

    @property
    def standing(self) -> Mapping[int, tuple[str, list[str]]]:
        return {each.fault: (each.verb, each.targets) for each in self._fabric.ledger.standing.values()}

    def do(self, verb: str, targets: list[str], options: dict[str, Any] | None = None) -> int:
        """Raises FaultUnsupported."""
        if verb == GONE:
            return self._lose_for_ever(targets)
        if verb == "restart" and len(targets) == 1:
            return self.restart(targets[0])
        try:
            known = options_of(verb_named(verb, "processes"), "processes")
            if any(self._is_gone(name) for name in targets):
                raise FaultUnsupported(f"{verb} {' '.join(targets)}: one of the targets is removed for ever")
            if "others" in (options or {}):  # Without them these would be other links.
                raise FaultUnsupported(f"only the simulator has option others of {verb}")
            given = {name: value for name, value in (options or {}).items() if name in known}
            done = self._stage.wait(self._faults.do(verb, self._faulted(verb, targets), given))
        except LabError as error:
            raise FaultUnsupported(error.message) from None
        if verb == "add_server":
            self._stage.join(self._faults.added, targets[0])
        return done

    def _faulted(self, verb: str, targets: list[str]) -> list[str]:
        """The running ones among several targets; a starting process is waited for."""
        for name in targets:
            self._stage.await_start(name)
        row = BY_NAME[verb]
        if not (row.each and "running" in row.states) or len(targets) == 1:
            return targets
        return [name for name in targets if self._fabric.state_of(name) != "stopped"] or targets

    def _is_gone(self, name: str) -> bool:
        member = self._stage.servers.get(name)
        return member is not None and member.gone

    def _lose_for_ever(self, targets: list[str]) -> int:
        for name in targets:
            if name not in self._stage.servers:
                raise FaultUnsupported(f"there is no server {name!r}")
            if self._fabric.state_of(name) != "stopped":
                self.do("crash", [name])
            self._stage.servers[name].gone = True
        return 0

    def kill_client(self, name: str) -> None:
        """Kills a client's process."""
        self.do("crash", [name])

    # --- undoing ---------------------------------------------------------------------------------------------------

    def restart(self, server: str) -> int:
        """Begins a restart; the server counts as running from now on."""
        state = "running" if server in self._stage.starting else self._fabric.state_of(server)
        if state != "stopped" or self._is_gone(server):
            raise FaultUnsupported(f"{server} is {state}")
        member = self._stage.servers.get(server)
        if member is not None and member.client:
            raise FaultUnsupported(f"{server} is a client: its next life is another one")
        self._stage.start_process(server, self._restarted(server))
        return 0

    async def _restarted(self, server: str) -> None:
        await self._faults.do("restart", [server], {})

    def resume(self, server: str) -> int:
        return self.do("resume", [server])

    def heal_all(self) -> int:
        return self.do("heal_all", [])

    def heal(self, a: Any = None, b: str | None = None, direction: str = "both", others: Any = None) -> int:
        """Heals one link; or all links of each of several names; or, with `others`, all links between them."""
        ledger = self._fabric.ledger
        names = [a] if isinstance(a, str) else list(a or [])
        if b is not None or others is None:
            newest = max((ledger.heal(name, b) for name in names), default=0)
        else:
            pairs = [(name, EVERYBODY) for name in names] + list(combinations(names, 2))
            newest = max((ledger.heal(one, other) for one, other in pairs), default=0)
        self._stage.wait(self._fabric.apply_rules())
        return newest

    def mend_disk(self, name: str) -> None:
        """Ends the disk faults of a server; a stopped server starts with a working disk."""
        stands = [verb for verb, targets in self.standing.values() if name in targets and verb in OF_THE_DISK]
        for verb in stands:
            if self._fabric.state_of(name) == "running":
                undo = BY_NAME[verb].undo
                assert undo is not None
                self.do(undo.verb, [name], undo.options)
            else:
                self._fabric.ledger.end_of(name, verb)
