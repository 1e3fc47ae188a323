"""The simulated network: real frames of the real codec, on links that can be cut, slow, lossy and unfair."""

from __future__ import annotations

from collections.abc import Callable

from nodes.listeners import Listeners
from nodes.sim.links import Links, SimLink
from nodes.sim.loop import Loop, Machine
from nodes.sim.service_time import ServiceTimeModel
from nodes.trace.present import REQUESTS, Cause, Caused, carried, cause_of
from nodes.wire.codec import Codec
from nodes.wire.damage import damaged
from nodes.wire.messages import Message

Reached = Callable[[str, str, str, str, Message, Callable[[], None]], None]
"""Callback with ("sent" or "delivered", "before" or "after", sender, receiver, message, step to run first if a fault is injected here)."""
Match = Callable[[str, str, Message], bool]


class HeldMessages:
    """Messages held back by a directed schedule, in order."""

    def __init__(self, net: Net, match: Match):
        self._net = net
        self.match = match
        self.messages: list[tuple[str, str, Message]] = []

    def release(self) -> None:
        """Releases all held messages, and holds none from now on."""
        self._net.holds.remove(self)
        for sender, receiver, message in self.messages:
            self._net.carry(sender, receiver, [message])

    def drop(self) -> None:
        """Drops all held messages, and holds none from now on."""
        self._net.holds.remove(self)


class Net:
    """The network between the servers."""

    def __init__(self, loop: Loop, codec: Codec, links: Links):
        self.loop = loop
        self.codec = codec
        self.links = links
        self.hosts: dict[str, SimNetwork] = {}
        self.holds: list[HeldMessages] = []
        self._kept: dict[int, tuple[Message, Cause]] = {}
        """Causes of held messages, by the identity of the message, which is referenced so that no other one gets it."""
        self.delivered = 0
        self.on_sent: Listeners[str, str, Message] = Listeners()
        """Called with (sender, receiver, message) for every message that leaves a server, delivered or not."""
        self.reached: Listeners[str, str, str, str, Message, Callable[[], None]] = Listeners()
        """Lets a schedule inject a fault at a message."""

    def hold(self, match: Match) -> HeldMessages:
        if not self.holds:
            self._kept.clear()
        held = HeldMessages(self, match)
        self.holds.append(held)
        return held

    def carry(self, sender: str, receiver: str, messages: list[Message]) -> None:
        """Sends messages of a schedule in a server's name, or messages that it released."""
        present = self.loop.cause
        kept = [self._kept.get(id(message), (message, present)) for message in messages]
        self.take(sender, receiver, (messages, [cause_of(message, cause) for message, cause in kept]))

    def take(self, sender: str, receiver: str, caused: Caused) -> None:
        """Takes the messages that a sender sent in one turn."""
        if self.reached and sender in self.hosts:
            self._carry_one_by_one(self.reached, sender, receiver, caused)
        else:
            self._carry(sender, receiver, caused)

    def _carry_one_by_one(self, reached: Reached, sender: str, receiver: str, caused: Caused) -> None:
        """Takes the messages one by one. They still leave together, unless a fault is injected between two of them."""
        machine, messages, causes = self.hosts[sender].machine, list[Message](), list[Cause]()

        def leave() -> None:
            self._carry(sender, receiver, (messages.copy(), causes.copy()))
            messages.clear()
            causes.clear()

        for message, cause in zip(*caused, strict=True):
            self.loop.cause = cause
            reached("sent", "before", sender, receiver, message, leave)
            if machine.dead:
                return
            messages.append(message)
            causes.append(cause)
            reached("sent", "after", sender, receiver, message, leave)
            if machine.dead:
                return
        leave()

    def _carry(self, sender: str, receiver: str, caused: Caused) -> None:
        if self.on_sent:
            for message in caused[0]:
                self.on_sent(sender, receiver, message)
        if self.holds:
            caused = self._not_held(sender, receiver, caused)
        link = self.links.made.get((sender, receiver)) or self.links.of(sender, receiver)
        if link.cut or not caused[0] or receiver not in self.hosts:
            return
        if not (link.lose or link.duplicate or link.reorder or link.damage):
            self._frame(sender, receiver, link, caused)
            return
        rng = link.chance
        for message, cause in zip(*caused, strict=True):
            if rng.random() < link.lose:
                continue
            if link.damage and rng.random() < link.damage:
                message = damaged(message, rng)
            self._frame(sender, receiver, link, ([message], [cause]))
            if rng.random() < link.duplicate:
                self._frame(sender, receiver, link, ([message], [cause]))

    def _not_held(self, sender: str, receiver: str, caused: Caused) -> Caused:
        passed: Caused = ([], [])
        for message, cause in zip(*caused, strict=True):
            held = next((held for held in self.holds if held.match(sender, receiver, message)), None)
            if held is None:
                passed[0].append(message)
                passed[1].append(cause)
            else:
                held.messages.append((sender, receiver, message))
                self._kept[id(message)] = message, cause
        return passed

    def _frame(self, sender: str, receiver: str, link: SimLink, caused: Caused) -> None:
        loop = self.loop
        at_ns = link.arrival_ns(loop.now_ns)
        messages, causes = caused
        loop.at(at_ns, self._arrive, sender, self.hosts[receiver], link, self.codec.encode(messages), causes)

    def _arrive(self, sender: str, host: SimNetwork, link: SimLink, data: bytes, causes: list[Cause]) -> None:
        """Delivers a frame. A frame sent to an earlier process of a server, or into a link that was cut meanwhile, is lost."""
        if link.piled is not None:
            link.piled.append(lambda: self._arrive(sender, host, link, data, causes))
        elif not link.cut and not host.machine.dead:
            host.machine.call(self._deliver, sender, host, data, causes)

    def _deliver(self, sender: str, host: SimNetwork, data: bytes, causes: list[Cause]) -> None:
        messages = self.codec.decode(data)
        self.delivered += len(messages)
        if self.reached:
            self._deliver_one_by_one(self.reached, sender, host, messages, causes)
            return
        step, desk, loop = host.step, host.desk, self.loop
        for message, cause in zip(messages, causes, strict=True):
            loop.cause = loop.began = carried(cause, message)
            if desk is None:
                step(sender, message)
            else:
                desk.take(lambda message=message: step(sender, message))  # type: ignore[misc]

    def _deliver_one_by_one(
        self, reached: Reached, sender: str, host: SimNetwork, messages: list[Message], causes: list[Cause]
    ) -> None:
        """Delivers messages one by one. With a desk, faults around a message are injected when it is queued there."""
        machine, loop = host.machine, self.loop
        while messages:
            message = messages[0]
            loop.cause = loop.began = carried(causes[-len(messages)], message)
            reached("delivered", "before", sender, host.name, message, _nothing)
            if machine.dead:
                return
            if machine.paused:
                machine.call_first(self._deliver_one_by_one, reached, sender, host, messages, causes)
                return
            del messages[0]
            if host.desk is None:
                host.step(sender, message)
            else:
                host.desk.take(lambda message=message: host.step(sender, message))  # type: ignore[misc]
            reached("delivered", "after", sender, host.name, message, _nothing)
            if machine.dead:
                return


def _nothing() -> None:
    """Does nothing; takes a machine's turn, or the place of the first step at a delivery."""


class SimNetwork:
    """One server's end of the network."""

    def __init__(self, net: Net, machine: Machine, name: str):
        self.name = name
        self.address = f"{name}:1"
        self.machine = machine
        self.step: Callable[[str, Message], None] = lambda peer, message: None
        self.desk: ServiceTimeModel | None = None
        """The server's desk, if messages take service time."""
        self._net = net
        self._outbox: dict[str, Caused] = {}
        net.hosts[name] = self

    def send(self, to: str, message: Message) -> None:
        if not self._outbox:
            self.machine.at_turn_end.append(self._flush)
            if not self.machine.queued:
                self.machine.call(_nothing)  # A schedule sends in this server's name.
        cause = self.machine.loop.cause
        if type(message) in REQUESTS:
            cause = cause_of(message, cause)
        going = self._outbox.get(to)
        if going is None:
            self._outbox[to] = [message], [cause]
        else:
            going[0].append(message)
            going[1].append(cause)

    def _flush(self) -> None:
        loop = self._net.loop
        if self.desk is not None and self.desk.free_ns > loop.now_ns:
            loop.at(self.desk.free_ns, self._leave)
        else:
            self._leave()

    def _leave(self) -> None:
        outbox, self._outbox = self._outbox, {}
        if self.machine.dead:
            return
        for to, caused in outbox.items():
            self._net.take(self.name, to, caused)
            if self.machine.dead:
                return

    def receive(self, step: Callable[[str, Message], None]) -> None:
        self.step = step

    def know(self, peer: str, address: str) -> None:
        """Does nothing: names are addresses here."""
