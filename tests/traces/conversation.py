"""A conversation as text: every message that leaves a server and every event, in order, without times.

Equal messages to several servers in a row are one line, and so are equal events of several servers. Messages that are not part of the
protocol are left out: queries for the active, and heartbeats.
"""

from __future__ import annotations

import re
from itertools import groupby

from nodes.sim.cluster import SimCluster
from nodes.trace.events import Invoked, Stamped
from nodes.trace.prose import words
from nodes.wire.messages import AskView, Message, ViewCopy

QUIET: tuple[type[Message], ...] = (AskView, ViewCopy)
UNSAID = re.compile(r", digest [0-9a-f]+| after [0-9.]+ ms")
"""Parts of a line that change with every field of the namespace, and with every draw of the links."""
Line = tuple[tuple[str, str], str, str]
"""Key by which lines are joined, the server concerned, and the rest of the line."""


class Conversation:
    """The messages and events of a cluster from here on."""

    def __init__(self, cluster: SimCluster, *left_out: type[Message]):
        self._lines: list[Line] = []
        self._left_out = (*QUIET, *left_out)
        cluster.net.on_sent.subscribe(self._on_sent)
        cluster.on_event(self._on_event)

    def _on_sent(self, sender: str, receiver: str, message: Message) -> None:
        if not isinstance(message, self._left_out):
            kind = type(message).__name__
            self._lines.append(((f"> {sender}", kind), receiver, f"{sender} → {{}}: {kind}"))

    def _on_event(self, stamped: Stamped) -> None:
        if not isinstance(stamped.event, Invoked):
            said = UNSAID.sub("", words(stamped.event))
            self._lines.append((("", said), stamped.server, f"{{}}: {said}"))

    def text(self) -> str:
        shown = []
        for _, lines in groupby(self._lines, key=lambda line: line[0]):
            together = list(lines)
            names = ", ".join(dict.fromkeys(name for _, name, _ in together))
            shown.append(together[0][2].replace("{}", names, 1))
        return "".join(f"{line}\n" for line in shown)
