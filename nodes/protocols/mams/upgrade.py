"""Active-standby state transition: the steps by which the holder of the lock becomes the active (CFS §4.2.2, Fig. 5)."""

from __future__ import annotations

import msgspec

from nodes.config import MILLISECOND
from nodes.metadata_server.replica import Replica
from nodes.protocols.mams.pool_node import PoolNode
from nodes.protocols.mams.recovery import Recovery
from nodes.replicas.leader import write_epoch
from nodes.replicas.view import ACTIVE, JUNIOR, STANDBY, Configuration, EpochNode, Place, ViewMoved
from nodes.wire.messages import Mark
from nodes.world import Change, ConnectionLoss

PAPER = "CFS §4.2.2"
TRY_AGAIN_NS = 10 * MILLISECOND


class Upgrade:
    """One attempt of one server in one epoch. Each step is an event with the paper's number; 0 and 2b are ours."""

    def __init__(self, replica: Replica, pool: PoolNode, trusts_own_journal: bool):
        self._replica = replica
        self._pool = pool
        self._standby_trusts_own = trusts_own_journal
        self.epoch = 0
        self.by_juniors = False
        self.recovery: Recovery | None = None
        self.configuration: Configuration | None = None

    def _step(self, step: str, detail: str) -> None:
        self._replica.step("upgrade", step, PAPER, detail, self.epoch)

    async def check_own_state(self) -> bool:
        """Steps 0 and 1. False: a junior must give the lock up while there are standbys."""
        view = self._replica.view
        node, _ = await view.epoch()
        self.epoch = node.epoch + 1
        self._step("0", f"refuses journals of epoch {node.epoch} and applies the committed ones it has")
        places = await view.places()
        mine = places.get(self._replica.name)
        self.by_juniors = not any(place.state == STANDBY for place in places.values())
        forced = self._replica.forcing.stands
        allowed = mine is not None and (mine.state == STANDBY or self.by_juniors or forced)
        state = mine.state if mine else "without a place"
        self._step("1", f"is {state}, {'goes on' if allowed else 'gives up the lock'}")
        return allowed

    async def write_view(self) -> None:
        """Step 2: the new epoch, ourselves active, the old active junior until its journal proves equal. Raises LostLock."""
        replica = self._replica
        await write_epoch(replica, self._begin, ACTIVE, JUNIOR)
        await self._pool.promise(self.epoch)
        self._step(
            "2",
            f"epoch {self.epoch} is written, {replica.name} is active, journals of lower epochs are refused",
        )

    def _begin(self, last: EpochNode) -> int:
        newest = max(last.epoch, self._pool.promised)
        if self._replica.config.cluster.mutations.reused_epoch and newest:
            newest -= 1
        self.epoch = newest + 1
        return self.epoch

    async def recover(self, timeout_ns: int) -> bool:
        """Step 2b (safety rules 1-4): what the last configuration acknowledged becomes part of our journal. False: too few answered."""
        replica = self._replica
        self.configuration = await self._last_configuration()
        self.recovery = Recovery(replica, self._pool, self.epoch)
        if self._trusts_own_journal():
            self.recovery.ask(self.configuration.members)
            return True
        heard = await self.recovery.hear(self.configuration, timeout_ns)
        if not heard and not replica.forcing.stands:
            self._step(
                "2b",
                f"heard {self.recovery.heard(self.configuration)} of {self.configuration.read_quorum} members",
            )
            return False
        source = self.recovery.longest(self.configuration)
        if source != replica.name and not await self.recovery.adopt(source):
            self._step("2b", f"could not copy the journal of {source}")
            return False
        if not heard:
            self._forces(self.configuration)
        if not replica.reaches_barrier:
            self._step("2b", f"nobody who answered holds checkpoint {replica.origin.checkpoint}")
            return False
        self._step(
            "2b",
            f"heard {', '.join(sorted(self.recovery.promises)) or 'nobody else'}; {source} has the last journal",
        )
        return True

    def _forces(self, configuration: Configuration) -> None:
        """Names what may be lost by going on without a read quorum."""
        assert self.recovery is not None
        silent = self.recovery.silent(configuration)
        last = self._replica.last
        detail = f"goes on at sn {last.sn} of epoch {last.epoch}: what {', '.join(silent)} alone may hold after it is lost"
        self._replica.forcing.step("2b", detail)

    async def _last_configuration(self) -> Configuration:
        """The persistent record; with the hole open, whoever has a place in the view now."""
        configuration, _ = await self._replica.view.configuration()
        if self._replica.config.cluster.holes.configuration_is_liveness:
            return msgspec.structs.replace(configuration, members=list(await self._replica.view.places()))
        return configuration

    def _trusts_own_journal(self) -> bool:
        """The papers' holes: the elected takes its own journal for the whole truth."""
        if self.by_juniors:
            return self._replica.config.cluster.holes.junior_election_eager
        return self._standby_trusts_own

    def holds_intake(self) -> None:
        self._step("3", "requests are accepted and held")

    def flushes(self, last: Mark) -> None:
        self._step("4", f"flushes everything up to sn {last.sn} and one empty group of epoch {self.epoch}")

    async def register(self, in_step: list[str]) -> list[str]:
        """Step 5: members with the same journal are standbys, all others juniors. Raises LostLock."""
        replica, view = self._replica, self._replica.view
        while True:
            places = await view.places()
            changes: list[Change] = []
            standbys: list[str] = []
            for server, place in places.items():
                if server == replica.name:
                    continue
                state = STANDBY if server in in_step else JUNIOR
                if state == STANDBY:
                    standbys.append(server)
                if place.state != state:
                    changes.append(view.place_change(server, Place(state, self.epoch, replica.log.last.sn)))
            try:
                if changes:
                    await view.guarded(changes)
                break
            except (ViewMoved, ConnectionLoss):
                await replica.world.clock.sleep(TRY_AGAIN_NS)
        self._step("5", f"registered {', '.join(standbys) or 'nobody'} as standby")
        return standbys

    def serves(self, standbys: list[str]) -> None:
        self._step("6", f"{self._replica.name} is the new active with {len(standbys)} standbys")

    def stable(self) -> None:
        self._step("7", "the view is stable again")
