"""Reachability between the servers of the simulated coordination service, and the ordered streams between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from nodes.sim.links import Links
from nodes.sim.loop import Loop
from nodes.sim.stream import SimStream

if TYPE_CHECKING:
    from nodes.sim.quorum import EnsembleMember


class Contact:
    """A stream between two members lasts until it is closed, which loses its messages under way."""

    def __init__(self, loop: Loop, links: Links, members: list[EnsembleMember]):
        self._loop = loop
        self._links = links
        self._members = members
        self._streams: dict[tuple[str, str], SimStream] = {}

    def between(self, one: EnsembleMember, other: EnsembleMember) -> bool:
        links, (a, b) = self._links, (one.name, other.name)
        return one.up and other.up and not (links.of(a, b).cut or links.of(b, a).cut)

    def reached_by(self, member: EnsembleMember) -> list[EnsembleMember]:
        return [each for each in self._members if each is member or self.between(member, each)]

    def to(self, sender: EnsembleMember, receiver: EnsembleMember, step: Callable[[], None]) -> None:
        """Takes a step at another member, in order; at once when it is the same."""
        if sender is receiver:
            step()
            return
        way = (sender.name, receiver.name)
        stream = self._streams.get(way)
        if stream is None:
            stream = self._streams[way] = SimStream(self._loop, self._links, way)
        stream.send(step)

    def links_changed(self) -> None:
        """Some link was cut or healed."""
        for stream in list(self._streams.values()):
            stream.go_on()

    def close(self, one: EnsembleMember, other: EnsembleMember) -> None:
        """Closes both ways between two members."""
        for way in ((one.name, other.name), (other.name, one.name)):
            stream = self._streams.pop(way, None)
            if stream is not None:
                stream.close()

    def close_all(self) -> None:
        for way in list(self._streams):
            self._streams.pop(way).close()
