"""Dispatch of messages to their handlers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nodes.metadata_server.request_handler import RequestHandler
from nodes.replicas.view_watcher import ViewWatcher
from nodes.trace.events import Warned
from nodes.wire.messages import CheckOperation, Message, Request
from nodes.world import World

Handlers = dict[type[Message], Callable[[str, Any], None]]


def hand(world: World, handlers: Handlers, peer: str, message: Message) -> None:
    """Calls the handler of a message. A message without a handler is an event, never a crash."""
    handler = handlers.get(type(message))
    if handler is None:
        reported = f"{peer} sent a {type(message).__name__}, which a metadata server does not take"
        world.trace.emit(Warned(reported))
    else:
        handler(peer, message)


def hand_call(
    answering: RequestHandler | None, following: ViewWatcher, peer: str, call: Request | CheckOperation
) -> None:
    """Dispatches a call to the leader's intake if this server leads and admits calls. Otherwise the caller is referred to the leader."""
    if answering is None or not answering.backlog.admits:
        following.refuse(peer, call.number)
    elif isinstance(call, Request):
        answering.on_request(peer, call)
    else:
        answering.on_check(peer, call)
