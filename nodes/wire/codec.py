"""One frame's payload: an array of messages, in MessagePack; between processes beside an array of what led to them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Union

import msgspec

from nodes.wire.messages import Message

NAME_MOST = 80
"""Characters of the name in a cause."""
NUMBER_MOST = 1 << 53
"""What a browser counts exactly."""
Cause = tuple[str, int]
Run = tuple[
    Annotated[str, msgspec.Meta(max_length=NAME_MOST)],
    Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MOST)],
    Annotated[int, msgspec.Meta(ge=1)],
]
"""What led to messages of a frame (nodes/trace/present.py), and to how many in a row; as it is taken from others."""


class BadFrame(Exception):
    """A frame that is not an array of messages this side knows; one line says why."""


class Codec:
    """Encodes and decodes lists of messages of the given types."""

    def __init__(self, message_types: Sequence[type[Message]]):
        self.encode = msgspec.msgpack.Encoder().encode
        """`encode(messages) -> bytes`"""
        known: Any = Union.__getitem__(tuple(message_types))
        self._decoder: Any = msgspec.msgpack.Decoder(list[known])
        self._framed: Any = msgspec.msgpack.Decoder(tuple[list[known], list[Run]])

    def decode(self, octets: bytes) -> list[Message]:
        """Raises BadFrame."""
        messages: list[Message] = _decoded(self._decoder, octets)
        return messages

    def frame(self, caused: list[tuple[Message, Cause]], told: Callable[[Cause], Cause]) -> bytes:
        """A frame between processes: messages, and beside them in runs what led to them, as `told`; no runs when nothing is known of any."""
        messages: list[Message] = []
        runs: list[list[Any]] = []
        last: Cause | None = None
        for message, cause in caused:
            messages.append(message)
            if cause is last:
                runs[-1][2] += 1
            else:
                last = cause
                runs.append([*told(cause), 1])
        return self.encode((messages, runs if len(runs) > 1 or (runs and runs[0][1]) else ()))

    def framed(self, octets: bytes) -> tuple[list[Message], list[Run]]:
        """A frame taken apart; the runs are as long as the messages are many. Raises BadFrame."""
        messages, runs = _decoded(self._framed, octets)
        if not runs:
            return messages, [("", 0, len(messages))]
        if sum(run[2] for run in runs) != len(messages):
            raise BadFrame(f"causes of {sum(run[2] for run in runs)} messages in a frame of {len(messages)}")
        return messages, runs


def _decoded(decoder: Any, octets: bytes) -> Any:
    """Raises BadFrame."""
    try:
        return decoder.decode(octets)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadFrame(f"not an array of known messages: {error}") from None
