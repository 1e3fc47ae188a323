"""The fault verbs on a running cluster, the same on processes and in containers."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from backend.errors import FaultImpossible, Impossible, LabError, Malformed, Unavailable, of_fault
from backend.fabrics.driver import DrivenProcess
from backend.fabrics.fabric import ClusterFabric
from backend.fabrics.links import OPPOSITE, LinkFault
from backend.fabrics.removal import Removal
from backend.fabrics.targets import group_of, resolve
from backend.names import COORDINATION, EVERYBODY
from nodes.families import family_named
from nodes.faults import check
from nodes.faults.chaos import drawn_step
from nodes.faults.table import BY_NAME, LINK_VERBS, STOPPING
from nodes.faults.words import rule_of

SHARES = {"lose": "loss", "damage": "damage", "duplicate": "duplicate", "reorder": "reorder"}
OF_THE_DISK = ("slow_disk", "fail_disk")


class FaultInjection:
    """`do` is the one door: the API, the command line and scenarios come through it.

    Many methods: one carries out each verb.
    """

    def __init__(self, fabric: ClusterFabric):
        self.fabric = fabric
        self.added = ""
        """The server that the last `add_server` created."""
        self.forced = ""
        """One line with the result of the last `force`."""
        self.doing: dict[str, Callable[[list[str], dict[str, Any]], Awaitable[int]]] = {
            "crash": self._crash,
            "restart": self._restart,
            "respawn": self._respawn,
            "stop": self._stop,
            "power_loss": self._power_loss,
            "new_disk": self._new_disk,
            "pause": self._pause,
            "resume": self._resume,
            "cut": self._link,
            "delay": self._link,
            "lose": self._link,
            "heal": self._heal,
            "heal_all": self._heal_all,
            "take_lock": self._take_lock,
            "force_view": self._force_view,
            "chaos": self._chaos,
            "force": self._force,
            "expire_session": self._expire_session,
            "add_server": self._add_server,
            "remove_server": self._remove_server,
            "slow_disk": self._disk,
            "fail_disk": self._disk,
            "damage": self._link,
            "duplicate": self._link,
            "reorder": self._link,
            "corrupt": self._corrupt,
            "skew_clock": self._skew_clock,
        }
        """Handlers of the verbs that real servers support."""

    async def do(self, name: str, words: list[str], options: dict[str, Any] | None = None) -> int:
        """Returns the fault's number; an undoing verb returns the number of the fault that it ended, 0 for none.

        Raises NotThere, Impossible, Malformed, FaultImpossible or Unavailable, each with one line.
        """
        try:
            verb = check.verb_named(name, self.fabric.kind)
            given = check.resolved(verb, options or {}, self.fabric.kind)
            picture, rng = self.fabric.picture, self.fabric.rng
            targets = list(itertools.chain.from_iterable(resolve(word, picture, rng) for word in words))
            check.check_count(verb, targets, given)
            check.check_kind(verb, targets, picture.kind_of)
        except check.FaultUnsupported as error:
            raise of_fault(error) from None
        return await self.doing[name](targets, {"verb": name, **given})

    # --- processes --------------------------------------------------------------------------------

    def _processes(self, names: list[str], verb: str) -> list[DrivenProcess | None]:
        found = []
        for name in self.fabric.spread(names):
            process = self.fabric.process(name)
            if process is None and name == COORDINATION:
                raise FaultImpossible(
                    f"the control plane does not manage the coordination service: cannot {verb} it"
                )
            found.append(process)
        return found

    def _running(self, names: list[str], verb: str) -> list[DrivenProcess]:
        running = [each for each in self._processes(names, verb) if each is not None and each.running]
        for name in self.fabric.spread(names):
            if name not in [each.name for each in running]:
                raise Impossible(f"{name} does not run: cannot {verb} it")
        return running

    async def _crash(self, targets: list[str], options: dict[str, Any]) -> int:
        processes = self._running(targets, "crash")
        fault = self.fabric.ledger.begin("crash", targets, {})
        await asyncio.gather(*(process.kill() for process in processes))
        self._over(targets, "pause")
        return fault

    async def _respawn(self, targets: list[str], options: dict[str, Any]) -> int:
        processes = self._running(targets, "respawn")
        fault = self.fabric.ledger.begin("respawn", targets, {})
        await asyncio.gather(*(process.kill() for process in processes))
        self._over(targets, "pause")
        await asyncio.gather(*(self.fabric.restart(name) for name in targets))
        self._over(targets, "respawn")
        return fault

    async def _stop(self, targets: list[str], options: dict[str, Any]) -> int:
        processes = self._running(targets, "stop")
        fault = self.fabric.ledger.begin("stop", targets, {})
        await asyncio.gather(*(process.stop() for process in processes))
        self._over(targets, "pause")
        return fault

    async def _power_loss(self, targets: list[str], options: dict[str, Any]) -> int:
        self._running(targets, "take the power from")
        fault = self.fabric.ledger.begin("power_loss", targets, {})
        await asyncio.gather(*(self.fabric.lose_power(name) for name in targets))
        self._over(targets, "pause")
        return fault

    async def _new_disk(self, targets: list[str], options: dict[str, Any]) -> int:
        fault = self.fabric.ledger.begin("new_disk", targets, {})
        await asyncio.gather(*(self.fabric.new_disk(name) for name in targets))
        self._over(targets, "pause", *OF_THE_DISK)
        return fault

    async def _restart(self, targets: list[str], options: dict[str, Any]) -> int:
        for process in self._processes(targets, "restart"):
            if process is not None and process.running:
                raise Impossible(f"{process.name} runs: crash or stop it before restarting it")
        await asyncio.gather(*(self.fabric.restart(name) for name in self.fabric.spread(targets)))
        return max(self.fabric.ledger.end_of(name, *STOPPING) for name in targets)

    async def _pause(self, targets: list[str], options: dict[str, Any]) -> int:
        processes = self._running(targets, "pause")
        for process in processes:
            if process.paused:
                raise Impossible(f"{process.name} is paused already")
        fault = self.fabric.ledger.begin("pause", targets, {})
        await asyncio.gather(*(process.pause() for process in processes))
        return fault

    async def _resume(self, targets: list[str], options: dict[str, Any]) -> int:
        processes = self._running(targets, "resume")
        for process in processes:
            if not process.paused:
                raise Impossible(f"{process.name} is not paused")
        await asyncio.gather(*(process.resume() for process in processes))
        await self.fabric.apply_rules(targets)
        return self._over(targets, "pause")

    def _over(self, targets: list[str], *verbs: str) -> int:
        return max((self.fabric.ledger.end_of(name, *verbs) for name in targets), default=0)

    # --- links ------------------------------------------------------------------------------------

    async def _link(self, targets: list[str], options: dict[str, Any]) -> int:
        verb, direction = options.pop("verb"), options["direction"]
        share = options.get("share", 0.0)
        effect = {
            "drop": verb == "cut", "delay_ms": options.get("ms", 0), "jitter_ms": options.get("jitter_ms", 0),
            SHARES.get(verb, "loss"): share,
        }  # fmt: skip
        links = [
            LinkFault(a, b, way, **effect, rule=rule_of(verb, options))
            for a, b, way in self._pairs(verb, targets, direction, options.get("island", False))
        ]
        self.fabric.check_links(links)
        fault = self.fabric.ledger.begin(verb, targets, options, links)
        await self.fabric.apply_rules()
        return fault

    def _pairs(
        self, verb: str, targets: list[str], direction: Any, island: bool
    ) -> list[tuple[str, str, Any]]:
        coordination = self.fabric.spread([COORDINATION])
        picture = self.fabric.picture
        apart = [*picture.nodes, *picture.clients]
        """Processes without a link to coordination."""
        everybody = [*picture.servers, *apart, *coordination]
        if island and len(targets) > 1:
            inside = self.fabric.spread(targets)
            return [(a, b, direction) for a in inside for b in everybody if b not in inside]
        if len(targets) == 1:
            return self._from_all(targets[0], direction)
        a, b = targets
        if a == b:
            raise Malformed(f"a link has two ends; {a!r} was given twice")
        if COORDINATION in targets and {a, b} <= {*apart, COORDINATION, *coordination}:
            raise Impossible(f"there is no link between {a} and {b}")
        return [
            (one, other, direction) for one in self.fabric.spread([a]) for other in self.fabric.spread([b])
        ]

    def _from_all(self, name: str, direction: Any) -> list[tuple[str, str, Any]]:
        if name != COORDINATION:
            return [(name, EVERYBODY, direction)]
        return [
            (server, one, OPPOSITE[direction])
            for server in self.fabric.picture.servers
            for one in self.fabric.spread([COORDINATION])
        ]

    async def _heal(self, targets: list[str], options: dict[str, Any]) -> int:
        a, b = [*targets, None, None][:2]
        newest = 0
        for one in self.fabric.spread([a]) if a else [None]:
            for other in self.fabric.spread([b]) if b else [None]:
                newest = max(newest, self.fabric.ledger.heal(one, other))
        await self.fabric.apply_rules()
        return newest

    async def _heal_all(self, targets: list[str], options: dict[str, Any]) -> int:
        return await self._heal([], options)

    # --- coordination -----------------------------------------------------------------------------

    async def _take_lock(self, targets: list[str], options: dict[str, Any]) -> int:
        group = group_of(targets[0], self.fabric.picture)
        owner = self.fabric.picture.groups[group].lock_owner
        if not owner:
            raise Impossible(f"no server holds the lock of {group} now")
        fault = self.fabric.ledger.begin("take_lock", [group, owner], {})
        await self.fabric.ensemble.take_lock(group, owner)
        return fault

    async def _force_view(self, targets: list[str], options: dict[str, Any]) -> int:
        group = group_of(targets[0], self.fabric.picture)
        protocol = self.fabric.home.file.cluster.protocol
        if family_named(protocol).locked:
            raise FaultImpossible(f"{protocol} has no views to change; take_lock takes its lock away")
        for member in self._members(group):
            with contextlib.suppress(Unavailable):
                if (await self.fabric.ask(member, {"do": "change_view"}))["asked"]:
                    return self.fabric.ledger.begin("force_view", [group, member], {})
        raise Impossible(f"no server of {group} is in its view now")

    async def _chaos(self, targets: list[str], options: dict[str, Any]) -> int:
        group = group_of(targets[0], self.fabric.picture)
        servers = {
            server.name: self.fabric.state_of(server.name)
            for server in self.fabric.picture.servers.values()
            if server.group == group
        }
        standing = [(each.verb, each.targets) for each in self.fabric.ledger.standing.values()]
        try:
            step = drawn_step(servers, standing, self.fabric.rng)
        except check.FaultUnsupported as error:
            raise of_fault(error) from None
        return await self.do(step.verb, [step.server], step.options)

    async def _force(self, targets: list[str], options: dict[str, Any]) -> int:
        """Makes a server serve without its quorum; refused while the group is served.

        An elected server that waits for others in vain loses the lock: it would otherwise keep it for ever.
        """
        name, protocol = targets[-1], self.fabric.home.file.cluster.protocol
        known = self.fabric.picture.servers[name]
        group = group_of(targets[0], self.fabric.picture) if len(targets) == 2 else known.group
        if known.group != group:
            raise Malformed(f"{name} is not a server of {group}")
        if family_named(protocol).cannot_force:
            raise FaultImpossible(f"{protocol} cannot be forced: {family_named(protocol).cannot_force}")
        self._running([name], "force")
        standing = await self._standing(group)
        for other, reported in standing.items():
            if reported["serves"]:
                raise Impossible(f"{group} is served by {other}: force is for groups without service")
        refused = (await self.fabric.ask(name, {"do": "force"}))["refused"]
        if refused:
            raise Impossible(f"{name} is not forced: {refused}")
        owner = self.fabric.picture.groups[group].lock_owner
        if owner not in ("", name):
            await self.fabric.ensemble.take_lock(group, owner)
        sn = standing.get(name, {}).get("sn", known.sn)
        self.forced = self._cost(group, name, sn, standing)
        return self.fabric.ledger.begin("force", [group, name], {"sn": sn})

    async def _standing(self, group: str) -> dict[str, dict[str, Any]]:
        """The status of each server of a group that answers."""
        standing: dict[str, dict[str, Any]] = {}
        for server in self.fabric.picture.servers.values():
            if server.group == group and self.fabric.state_of(server.name) == "running":
                with contextlib.suppress(Unavailable):
                    standing[server.name] = await self.fabric.ask(server.name, {"do": "standing"})
        return standing

    def _cost(self, group: str, name: str, sn: int, standing: dict[str, dict[str, Any]]) -> str:
        """What the forced server may lose, as far as the control plane can know."""
        known_sn = max(
            [self.fabric.picture.groups[group].commit_sn, *(each["sn"] for each in standing.values())]
        )
        silent = [
            each.name
            for each in self.fabric.picture.servers.values()
            if each.group == group and each.name not in standing
        ]
        line = f"{name} has everything up to sn {sn}; sn {known_sn} is the last one known in {group}"
        if known_sn > sn:
            return f"{line}: sn {sn + 1} to {known_sn} may be lost"
        return f"{line}: what {', '.join(silent)} alone may hold after it is lost" if silent else line

    def _members(self, group: str) -> list[str]:
        """Servers that report themselves as members, in any order. The view also lists a server that has just failed, or that has returned and
        must join again."""
        servers = [
            server.name
            for server in self.fabric.picture.servers.values()
            if server.group == group
            and server.believes == "member"
            and self.fabric.state_of(server.name) == "running"
        ]
        self.fabric.rng.shuffle(servers)
        return servers

    async def _expire_session(self, targets: list[str], options: dict[str, Any]) -> int:
        """Expires a server's session; also of a killed server, whose session outlives it. An ensemble of others asks the server for the
        session's password."""
        name = targets[0]
        if not self.fabric.ensemble.embedded:
            self._running([name], "expire the session of")
        session = self.fabric.ensemble.observer.sessions.get(name, 0)
        fault = self.fabric.ledger.begin("expire_session", [name], {})
        if not session:
            return fault
        try:
            await self.fabric.ensemble.expire(name, session)
        except LabError:
            if self.fabric.ensemble.observer.sessions.get(name, 0) == session:
                raise
        return fault

    # --- disks and servers ------------------------------------------------------------------------

    async def _disk(self, targets: list[str], options: dict[str, Any]) -> int:
        """Slows or fails a server's disk, or ends such a fault. A stopped server gets the state of its disk at its next start."""
        verb, name = options.pop("verb"), targets[0]
        ended = self.fabric.ledger.end_of(name, verb)
        undone = BY_NAME[verb].is_undone_by(options)
        fault = ended if undone else self.fabric.ledger.begin(verb, [name], options)
        if self.fabric.state_of(name) != "stopped":
            await self.fabric.put_disk(name)
        return fault

    async def _corrupt(self, targets: list[str], options: dict[str, Any]) -> int:
        name, what = targets[0], options["what"]
        await self.fabric.corrupt(name, what)
        return self.fabric.ledger.begin("corrupt", [name], {"what": what})

    async def _skew_clock(self, targets: list[str], options: dict[str, Any]) -> int:
        """Skews a server's clock; a stopped server gets the skew at its next start."""
        name, ms = targets[0], int(options["ms"])
        ended = self.fabric.ledger.end_of(name, "skew_clock")
        fault = self.fabric.ledger.begin("skew_clock", [name], {"ms": ms}) if ms else ended
        self.fabric.skews_ms[name] = ms
        if self.fabric.state_of(name) != "stopped":
            await self.fabric.put_clock(name)
        return fault

    async def _add_server(self, targets: list[str], options: dict[str, Any]) -> int:
        group = group_of(targets[0], self.fabric.picture)
        name = self.fabric.next_server()
        fault = self.fabric.ledger.begin("add_server", [group], {"name": name})
        self.fabric.picture.server(name, group)
        self.fabric.home.add_server(name, group)
        await self.fabric.join(name)
        await self.fabric.report_peers()
        self.added = name
        return fault

    async def _remove_server(self, targets: list[str], options: dict[str, Any]) -> int:
        removal = Removal(self.fabric, targets[0])
        fault = self.fabric.ledger.begin("remove_server", targets, {})
        await removal.carry_out()
        self._over(targets, *(verb for verb in BY_NAME if verb not in LINK_VERBS))
        await self._heal(targets, {})
        return fault
