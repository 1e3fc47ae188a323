"""Every message between servers has a topic, and every topic has a colour on the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from nodes.mechanisms import MESSAGES
from nodes.wire.messages import CrossGroupMessage, Message, Question, Reply, Topic

TOKENS = Path(__file__).resolve().parents[2] / "frontend" / "src" / "styles" / "tokens.css"
NEVER_SENT = {Question, Reply, CrossGroupMessage}


def below(kind: type[Message]) -> Iterator[type[Message]]:
    for each in kind.__subclasses__():
        yield each
        yield from below(each)


def test_every_message_of_the_servers_is_declared_once_with_its_topic() -> None:
    kinds = {
        kind for kind in below(Message) if kind.__module__.startswith("nodes.") and not kind.__subclasses__()
    }
    assert len(set(MESSAGES)) == len(MESSAGES) and kinds - NEVER_SENT == set(MESSAGES)
    assert all("topic" in vars(kind) for kind in MESSAGES)


def test_every_topic_has_a_colour() -> None:
    tokens = TOKENS.read_text()
    assert [topic for topic in get_args(Topic) if f"--dot-{topic}:" not in tokens] == []
