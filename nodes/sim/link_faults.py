"""The fault verbs on links. Ends are servers, clients, the coordination service, or single servers of its ensemble."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from nodes.faults.check import FaultUnsupported
from nodes.faults.table import LINK_VERBS
from nodes.sim.ensemble import COORDINATION, MEMBERS
from nodes.sim.fault_verbs import OF_TABLE, Faulting, fault_verb, nanos
from nodes.sim.links import SimLink
from nodes.sim.network import Net
from nodes.wire.messages import Message

if TYPE_CHECKING:
    from nodes.sim.cluster import SimCluster

Ends = str | Sequence[str]
"""One name, or several."""


class Withheld:
    """Messages of one kind that are held outside some links while all others travel."""

    def __init__(self, net: Net, number: int, kind: str, links: dict[tuple[str, str], SimLink], lost: bool):
        self._net = net
        self.number = number
        self.kind = kind
        self._links = dict(links)
        self._lost = lost
        self._held = net.hold(self._matches)

    def _matches(self, sender: str, receiver: str, message: Message) -> bool:
        return (sender, receiver) in self._links and self.kind in ("", type(message).__name__)

    def end(self, links: list[SimLink]) -> bool:
        """Releases the held messages on these links, unless they are lost; returns whether no link is left."""
        well = {id(link) for link in links}
        ended = [pair for pair, link in self._links.items() if id(link) in well]
        for pair in ended:
            del self._links[pair]
        if not ended:
            return False
        going, self._held.messages = self._held.messages, []
        for sender, receiver, message in going:
            if (sender, receiver) not in ended:
                self._held.messages.append((sender, receiver, message))
            elif not self._lost:
                self._net.carry(sender, receiver, [message])
        if not self._links:
            self._held.drop()
        return not self._links


class LinkFaults(Faulting):
    """Each verb applies to the links between `a` and `b`; without `b` to those between `a` and all others.

    `a` may be several names; then `others` are the names at the other end, or with `island` all names outside `a`. Direction "to" breaks
    messages from `a`, "from" messages to it.
    """

    def __init__(self, cluster: SimCluster):
        super().__init__(cluster)
        self._broken: dict[int, list[SimLink]] = {}
        """The links of each standing fault that have not been mended."""
        self._withheld: list[Withheld] = []

    # --- which links -----------------------------------------------------------------------------------------------

    def _names(self) -> list[str]:
        return [*self._cluster.servers, COORDINATION, *MEMBERS]

    def _outside(self, ones: list[str]) -> list[str]:
        """The other ends of these names' links: for a server the service as a whole, for a server of the ensemble also the other two."""
        outside = list(self._cluster.servers)
        if any(name in MEMBERS for name in ones):
            outside += MEMBERS
        elif COORDINATION not in ones:
            outside.append(COORDINATION)
        return [name for name in outside if name not in ones]

    def _ends(self, a: Ends, b: str | None, others: Ends | None) -> tuple[list[str], list[str]]:
        ones = [a] if isinstance(a, str) else list(a)
        there = self._outside(ones) if b is None else [b]
        if others is not None:
            there = [others] if isinstance(others, str) else list(others)
        names = self._names()
        for name in (*ones, *there):
            if name not in names:
                raise FaultUnsupported(f"there is no {name!r} to cut, delay or heal")
        return ones, there

    def _links(
        self, a: Ends, b: str | None, others: Ends | None, direction: str
    ) -> dict[tuple[str, str], SimLink]:
        if a == b:
            raise FaultUnsupported(f"{a} has no link to itself")
        ones, there = self._ends(a, b, others)
        pairs = [(one, other) for one in ones for other in there if one != other]
        found = pairs if direction != "from" else []
        if direction != "to":
            found = found + [(other, one) for one, other in pairs]
        return {pair: self._cluster.net.links.of(*pair) for pair in found}

    def _break(
        self, verb: str, a: Ends, b: str | None, direction: str, others: Ends | None, **fields: float
    ) -> int:
        links = list(self._links(a, b, others, direction).values())
        for link in links:
            for name, value in fields.items():
                setattr(link, name, value)
        return self._begin_on(links, verb, a, b, direction, others, **fields)

    def _begin_on(
        self, links: list[SimLink], verb: str, a: Ends, b: str | None, direction: str,
        others: Ends | None, **fields: Any,
    ) -> int:  # fmt: skip
        targets = [a] if isinstance(a, str) else list(a)
        more: dict[str, Any] = (
            {} if others is None else {"others": [others] if isinstance(others, str) else list(others)}
        )
        number = self._begin(verb, targets + ([b] if b else []), direction=direction, **more, **fields)
        self._broken[number] = links
        self._cluster.ensemble.links_changed()
        return number

    # --- verbs -----------------------------------------------------------------------------------------------------

    @fault_verb
    def cut(
        self,
        a: Ends,
        b: str | None = None,
        direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE,
        island: bool = OF_TABLE,
    ) -> int:
        """Cuts links: no message passes. `island` cuts several off from all others, not from each other."""
        if not island:
            return self._break("cut", a, b, direction, others, cut=True)
        if others is not None:
            raise FaultUnsupported("an island is cut off from everything else: say no others")
        return self._break(
            "cut", [*([a] if isinstance(a, str) else a), *([b] if b else [])], None, direction, None, cut=True
        )

    @fault_verb
    def delay(
        self,
        a: Ends,
        b: str | None = None,
        ms: float = OF_TABLE,
        jitter_ms: float = OF_TABLE,
        direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE,
    ) -> int:
        return self._break("delay", a, b, direction, others, delay_ns=nanos(ms), jitter_ns=nanos(jitter_ms))

    @fault_verb
    def lose(
        self, a: Ends, b: str | None = None, share: float = OF_TABLE, direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE,
    ) -> int:  # fmt: skip
        """Loses a share of messages. Towards coordination TCP sends again: losses are delays there."""
        return self._break("lose", a, b, direction, others, lose=share)

    @fault_verb
    def duplicate(
        self, a: Ends, b: str | None = None, share: float = OF_TABLE, direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE,
    ) -> int:  # fmt: skip
        return self._break("duplicate", a, b, direction, others, duplicate=share)

    @fault_verb
    def reorder(
        self, a: Ends, b: str | None = None, share: float = OF_TABLE, direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE,
    ) -> int:  # fmt: skip
        return self._break("reorder", a, b, direction, others, reorder=share)

    @fault_verb
    def damage(
        self, a: Ends, b: str | None = None, share: float = OF_TABLE, direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE,
    ) -> int:  # fmt: skip
        """Flips a bit in the content of packets that have checksums of their own."""
        return self._break("damage", a, b, direction, others, damage=share)

    @fault_verb
    def clog(
        self, a: Ends, b: str | None = None, direction: str = OF_TABLE, others: Ends | None = OF_TABLE
    ) -> int:
        """Clogs links: messages accumulate at the far end; `unclog` delivers them, those of one link in their order."""
        links = list(self._links(a, b, others, direction).values())
        for link in links:
            link.clog()
        return self._begin_on(links, "clog", a, b, direction, others)

    @fault_verb
    def hold(
        self, a: Ends, b: str | None = None, kind: str = OF_TABLE, direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE, lost: bool = OF_TABLE,
    ) -> int:  # fmt: skip
        """Holds messages of this kind while all others travel. When the link is healed they arrive late, or are `lost`."""
        links = self._links(a, b, others, direction)
        number = self._begin_on(list(links.values()), "hold", a, b, direction, others, kind=kind, lost=lost)
        self._withheld.append(Withheld(self._cluster.net, number, kind, links, lost))
        return number

    @fault_verb
    def unclog(
        self, a: Ends | None = None, b: str | None = None, direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE,
    ) -> int:  # fmt: skip
        """Opens clogged links, in an order determined by the seed and the time; without names all of them."""
        links = self._chosen(a, b, others, direction)
        self._open(links)
        return self._mended(links, ("clog",))

    def _chosen(self, a: Ends | None, b: str | None, others: Ends | None, direction: str) -> list[SimLink]:
        """The links in the order of their names; without names every link that was ever used."""
        made = self._cluster.net.links.made
        found = made if a is None else self._with_members(a, b, others, direction)
        return [found[pair] for pair in sorted(found)]

    def _with_members(
        self, a: Ends, b: str | None, others: Ends | None, direction: str
    ) -> dict[tuple[str, str], SimLink]:
        """The links by name. With the service as a whole, those of its servers are included. Raises FaultUnsupported."""
        found = self._links(a, b, others, direction)
        ones, there = self._ends(a, b, others)
        if COORDINATION in [*ones, *there]:
            ones += MEMBERS if COORDINATION in ones else ()
            there += MEMBERS if COORDINATION in there or b is None else ()
            found.update(self._links(ones, None, there, direction))
        return found

    def _open(self, links: list[SimLink]) -> None:
        cluster = self._cluster
        clogged = [link for link in links if link.piled is not None]
        random.Random(f"{cluster.seed}/unclog/{cluster.now_ns}").shuffle(clogged)
        for link in clogged:
            link.unclog(cut=self._is_cut(link))
        cluster.ensemble.links_changed()

    def _is_cut(self, link: SimLink) -> bool:
        return any(
            link is each
            for number, links in self._broken.items()
            if self.standing[number][0] == "cut"
            for each in links
        )

    @fault_verb
    def heal(
        self, a: Ends | None = None, b: str | None = None, direction: str = OF_TABLE,
        others: Ends | None = OF_TABLE, kind: str = OF_TABLE,
    ) -> int:  # fmt: skip
        """Mends links, clogged ones too; without names all of them. `kind` releases only held messages of this kind.

        Returns the newest fault that it ended, 0 for none.
        """
        links = self._chosen(a, b, others, direction)
        if kind:
            return self._release(links, kind)
        newest = self._mended(links, LINK_VERBS)
        for link in links:
            link.mend()
        self._open(links)
        self._withheld = [held for held in self._withheld if not held.end(links)]
        return newest

    def _release(self, links: list[SimLink], kind: str) -> int:
        of_kind = [held for held in self._withheld if held.kind == kind]
        newest = self._mended(links, ("hold",), {held.number for held in of_kind})
        ended = [held for held in of_kind if held.end(links)]
        self._withheld = [held for held in self._withheld if held not in ended]
        return newest

    @fault_verb
    def heal_all(self) -> int:
        return self.heal()

    def _mended(self, links: list[SimLink], verbs: tuple[str, ...], numbers: set[int] | None = None) -> int:
        """The newest fault that ended. A fault, one of `numbers` if given, ends when the last of its links is mended."""
        newest, mended = 0, {id(link) for link in links}
        for number, broken in list(self._broken.items()):
            if self.standing[number][0] in verbs and (numbers is None or number in numbers):
                self._broken[number] = [link for link in broken if id(link) not in mended]
                if not self._broken[number]:
                    del self._broken[number]
                    self._ended(number)
                    newest = number
        return newest
