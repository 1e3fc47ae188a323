"""The fault verbs on processes."""

from __future__ import annotations

import itertools
from collections.abc import Awaitable, Callable
from typing import Any

from backend.errors import FaultUnsupported, Impossible, Malformed, NotThere
from backend.fabrics import launch
from backend.fabrics.children import Child
from backend.fabrics.links import COORDINATION, EVERYBODY, OPPOSITE, LinkFault
from backend.fabrics.processes import ProcessFabric
from backend.fabrics.sockets import ask
from backend.fabrics.targets import group_of, natural, resolve
from backend.fabrics.verbs import check_count, checked_options, verb_named

DOWN = ("crash", "stop")


class ProcessFaults:
    """`do` is the one door: the API, the command line and scenarios come through it."""

    def __init__(self, fabric: ProcessFabric):
        self.fabric = fabric
        self.added = ""
        """The server that `add_server` made last."""
        self._verbs: dict[str, Callable[[list[str], dict[str, Any]], Awaitable[int]]] = {
            "crash": self._crash,
            "restart": self._restart,
            "stop": self._stop,
            "pause": self._pause,
            "resume": self._resume,
            "cut": self._link,
            "delay": self._link,
            "lose": self._link,
            "heal": self._heal,
            "heal_all": self._heal_all,
            "take_lock": self._take_lock,
            "expire_session": self._expire_session,
            "add_server": self._add_server,
            "slow_disk": self._disk,
            "fail_disk": self._disk,
        }

    async def do(self, name: str, words: list[str], options: dict[str, Any] | None = None) -> int:
        """Returns the fault's number (of an undoing verb: of what it undid, 0 for nothing).

        Raises NotThere, Impossible, Malformed, FaultUnsupported or Unavailable, each with one line.
        """
        verb = verb_named(name)
        if name not in self._verbs:
            raise FaultUnsupported(f"processes cannot do {name}")
        given = checked_options(verb, options or {})
        check_count(verb, words)
        picture, rng = self.fabric.picture, self.fabric.rng
        targets = list(itertools.chain.from_iterable(resolve(word, picture, rng) for word in words))
        return await self._verbs[name](targets, {"verb": name, **given})

    # --- processes --------------------------------------------------------------------------------

    def _child(self, name: str) -> Child | None:
        if name in self.fabric.picture.groups:
            raise Malformed(f"{name!r} is a group; say a server, such as 'active of {name}'")
        return self.fabric.children.by_name.get(name)

    def _running(self, name: str, verb: str) -> Child:
        child = self._child(name)
        if child is None and name == COORDINATION:
            raise FaultUnsupported(f"the coordination service is not ours: cannot {verb} it")
        if child is None or not child.running:
            raise Impossible(f"{name} does not run: cannot {verb} it")
        return child

    async def _crash(self, targets: list[str], options: dict[str, Any]) -> int:
        children = [self._running(name, "crash") for name in targets]
        fault = self.fabric.ledger.begin("crash", targets, {})
        for child in children:
            await child.kill()
        self._over(targets, "pause", "slow_disk", "fail_disk")
        return fault

    async def _stop(self, targets: list[str], options: dict[str, Any]) -> int:
        children = [self._running(name, "stop") for name in targets]
        fault = self.fabric.ledger.begin("stop", targets, {})
        for child in children:
            await child.stop()
        self._over(targets, "pause", "slow_disk", "fail_disk")
        return fault

    async def _restart(self, targets: list[str], options: dict[str, Any]) -> int:
        for name in targets:
            child = self._child(name)
            if child is not None and child.running:
                raise Impossible(f"{name} runs: crash or stop it before restarting it")
        newest = 0
        for name in targets:
            await self._start_again(name)
            newest = max(newest, self.fabric.ledger.end_of(name, *DOWN))
        return newest

    async def _start_again(self, name: str) -> None:
        if name in self.fabric.home.servers():
            await self.fabric.start_server(name)
        elif name == launch.CLIENT:
            await self.fabric.start_client()
        elif name == COORDINATION:
            await self.fabric.ensemble.restart()
        else:
            raise NotThere(f"{name!r} cannot be restarted")

    async def _pause(self, targets: list[str], options: dict[str, Any]) -> int:
        children = [self._running(name, "pause") for name in targets]
        for child in children:
            if child.paused:
                raise Impossible(f"{child.name} is paused already")
        fault = self.fabric.ledger.begin("pause", targets, {})
        for child in children:
            child.pause()
        return fault

    async def _resume(self, targets: list[str], options: dict[str, Any]) -> int:
        children = [self._running(name, "resume") for name in targets]
        for child in children:
            if not child.paused:
                raise Impossible(f"{child.name} is not paused")
        for child in children:
            child.resume()
        await self.fabric.apply_rules(targets)
        return self._over(targets, "pause")

    def _over(self, targets: list[str], *verbs: str) -> int:
        return max((self.fabric.ledger.end_of(name, *verbs) for name in targets), default=0)

    # --- links ------------------------------------------------------------------------------------

    async def _link(self, targets: list[str], options: dict[str, Any]) -> int:
        verb, direction = options.pop("verb"), options["direction"]
        effect = {"drop": verb == "cut", "delay_ms": options.get("ms", 0), "loss": options.get("share", 0.0)}
        links = [
            LinkFault(a, b, way, **effect)
            for a, b, way in self._pairs(verb, targets, direction, options.pop("island", False))
        ]
        fault = self.fabric.ledger.begin(verb, targets, options, links)
        await self.fabric.apply_rules()
        return fault

    def _pairs(
        self, verb: str, targets: list[str], direction: Any, island: bool
    ) -> list[tuple[str, str, Any]]:
        for name in targets:
            if name in self.fabric.picture.groups:
                raise Malformed(f"{name!r} is a group; {verb} takes servers, clients or {COORDINATION}")
        everybody = [*self.fabric.picture.servers, *self.fabric.picture.clients, COORDINATION]
        if island and len(targets) > 1:
            return [(a, b, direction) for a in targets for b in everybody if b not in targets]
        if len(targets) == 1:
            return self._from_all(targets[0], direction)
        if len(targets) > 2:
            raise Malformed(f"{verb} takes one name, two ends of a link, or more with the option island")
        a, b = targets
        if a == b:
            raise Malformed(f"a link has two ends; {a!r} was given twice")
        if {a, b} <= {*self.fabric.picture.clients, COORDINATION}:
            raise Impossible(f"there is no link between {a} and {b}")
        return [(a, b, direction)]

    def _from_all(self, name: str, direction: Any) -> list[tuple[str, str, Any]]:
        if name != COORDINATION:
            return [(name, EVERYBODY, direction)]
        return [(server, COORDINATION, OPPOSITE[direction]) for server in self.fabric.picture.servers]

    async def _heal(self, targets: list[str], options: dict[str, Any]) -> int:
        a, b = [*targets, None, None][:2]
        newest = self.fabric.ledger.heal(a, b)
        await self.fabric.apply_rules()
        return newest

    async def _heal_all(self, targets: list[str], options: dict[str, Any]) -> int:
        return await self._heal([], options)

    # --- coordination -----------------------------------------------------------------------------

    async def _take_lock(self, targets: list[str], options: dict[str, Any]) -> int:
        group = group_of(targets[0], self.fabric.picture)
        owner = self.fabric.picture.groups[group].lock_owner
        if not owner:
            raise Impossible(f"nobody holds the lock of {group} now")
        fault = self.fabric.ledger.begin("take_lock", [group, owner], {})
        await self.fabric.ensemble.take_lock(group, owner)
        return fault

    async def _expire_session(self, targets: list[str], options: dict[str, Any]) -> int:
        name = targets[0]
        self._running(name, "expire the session of")
        if name not in self.fabric.picture.servers:
            raise Malformed(f"{name} has no session of its own; say a server")
        session = self.fabric.ensemble.observer.sessions.get(name, 0)
        if not session:
            raise Impossible(f"{name} has no session now")
        fault = self.fabric.ledger.begin("expire_session", [name], {})
        await self.fabric.ensemble.expire(name, session)
        return fault

    # --- disks and servers ------------------------------------------------------------------------

    async def _disk(self, targets: list[str], options: dict[str, Any]) -> int:
        verb, name = options.pop("verb"), targets[0]
        self._running(name, f"{verb} of")
        harm = bool(options.get("ms") or options.get("on"))
        ended = self.fabric.ledger.end_of(name, verb)
        fault = self.fabric.ledger.begin(verb, [name], options) if harm else ended
        in_force = [each.verb for each in self.fabric.ledger.standing.values() if name in each.targets]
        slow = options["ms"] if verb == "slow_disk" else None
        question: dict[str, Any] = {"do": "disk", "fail": "fail_disk" in in_force}
        if slow is not None:
            question["slow_ms"] = slow
        await ask(self.fabric.home.socket_of(name), question)
        return fault

    async def _add_server(self, targets: list[str], options: dict[str, Any]) -> int:
        group = group_of(targets[0], self.fabric.picture)
        home = self.fabric.home
        highest = max(natural(name)[1] for name in home.servers())
        if len(home.servers()) >= 16:
            raise Impossible("16 servers are the most that run on one machine here")
        name = f"mds{highest + 1}"
        fault = self.fabric.ledger.begin("add_server", [group], {"name": name})
        self.fabric.picture.server(name, group)
        home.add_server(name, group)
        await self._join(name)
        self.added = name
        return fault

    async def _join(self, name: str) -> None:
        fabric = self.fabric
        fabric.home.port_of(name)
        await fabric.relays.add(name)
        fabric.traces.follow(name, launch.trace_directory(fabric.home, name))
        await fabric.start_server(name)
        await fabric.tell_peers()
