"""Message events of the processes, collected into lines for the page's moving dots."""

from __future__ import annotations

from typing import Any, NamedTuple

LINES = 500


class MessageLine(NamedTuple):
    """Equal messages on one link; `at_ns` is the time of the first one."""

    sender: str
    to: str
    kind: str
    at_ns: int
    sent: int


class MessageLines:
    """Merges equal messages on one link within a tenth of a second into one line with a count."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, str, str], list[int]] = {}
        self._dropped = 0

    def add(self, server: str, answer: dict[str, Any]) -> None:
        """`answer` is the control socket's response to take_messages: events as `[tag, to, kind, size]` with their stamp."""
        self._dropped += int(answer.get("dropped", 0))
        for reported in answer.get("messages", []):
            self._sent(server, reported)

    def _sent(self, server: str, reported: Any) -> None:
        at_ns, event = reported[3], reported[5]
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

    def take(self) -> tuple[list[MessageLine], int]:
        """The lines, and the number of messages that have no line."""
        lines = [MessageLine(*link, *line) for link, line in self._lines.items()]
        dropped, self._lines, self._dropped = self._dropped, {}, 0
        return lines, dropped
