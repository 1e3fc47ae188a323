"""One frame's payload: a MessagePack array of messages. Between processes the causes of the messages form a second array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Union

import msgspec

from nodes.wire.messages import Message

NAME_MOST = 80
"""Largest number of characters of the name in a cause."""
NUMBER_MOST = 1 << 53
"""Largest integer that a browser represents exactly."""
Run = tuple[
    Annotated[str, msgspec.Meta(max_length=NAME_MOST)],
    Annotated[int, msgspec.Meta(ge=0, le=NUMBER_MOST)],
    Annotated[int, msgspec.Meta(ge=1)],
]
"""The cause of messages in a frame (nodes/trace/present.py), and the number of messages in a row with that cause, as received from a peer."""


class BadFrame(Exception):
    """A frame that is not an array of messages that this side knows; one line gives the reason."""


class Codec:
    """Encodes and decodes lists of messages of the given types."""

    def __init__(self, message_types: Sequence[type[Message]]):
        self.encode = msgspec.msgpack.Encoder().encode
        """`encode(messages) -> bytes`"""
        known: Any = Union.__getitem__(tuple(message_types))
        self._decoder: Any = msgspec.msgpack.Decoder(list[known])
        self._framed: Any = msgspec.msgpack.Decoder(tuple[list[known], list[Run]])

    def decode(self, data: bytes) -> list[Message]:
        """Raises BadFrame."""
        messages: list[Message] = _decoded(self._decoder, data)
        return messages

    def frame(self, messages: Sequence[Message], runs: Sequence[Run]) -> bytes:
        """A frame between processes: messages, and the runs of their causes."""
        return self.encode((messages, runs))

    def framed(self, data: bytes) -> tuple[list[Message], list[Run]]:
        """The messages and runs of a frame. The runs add up to the number of messages, unless there are none. Raises BadFrame."""
        messages, runs = _decoded(self._framed, data)
        if runs and sum(run[2] for run in runs) != len(messages):
            raise BadFrame(f"causes of {sum(run[2] for run in runs)} messages in a frame of {len(messages)}")
        return messages, runs


def _decoded(decoder: Any, data: bytes) -> Any:
    """Raises BadFrame."""
    try:
        return decoder.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise BadFrame(f"not an array of known messages: {error}") from None
