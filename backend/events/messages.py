"""Message events of the processes, gathered into lines for the page's moving dots."""

from __future__ import annotations

from typing import Any

LINES = 500


class MessageLines:
    """Equal messages on one link within a tenth of a second are one line with a count."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, str], list[int]] = {}
        self._dropped = 0

    def add(self, server: str, answer: dict[str, Any]) -> None:
        """`answer` is what the control socket's take_messages told: events as `[tag, to, kind, octets]`
        with their stamp."""
        self._dropped += int(answer.get("dropped", 0))
        for told in answer.get("messages", []):
            self._sent(server, told)

    def _sent(self, server: str, told: Any) -> None:
        at_ns, event = told[3], told[5]
        if event[0] != "MessageSent":
            return
        key = (server, str(event[1]), str(event[2]))
        line = self._lines.get(key)
        if line is not None:
            line[1] += 1
        elif len(self._lines) < LINES:
            self._lines[key] = [int(at_ns), 1]
        else:
            self._dropped += 1

    def take(self) -> dict[str, Any]:
        """The frame for the page."""
        lines = [
            [sender, to, kind, at_ns, count] for (sender, to, kind), (at_ns, count) in self._lines.items()
        ]
        told = {"type": "messages", "list": lines, "dropped": self._dropped}
        self._lines, self._dropped = {}, 0
        return told
