"""`/api/stream`: live events for the page."""

from __future__ import annotations

import asyncio
import contextlib

import msgspec
from fastapi import APIRouter, WebSocket, WebSocketDisconnect

from backend.dependencies import the_whole
from backend.events.hub import PAGES_MAX, Hub, PageSocket

router = APIRouter()
FRAME_BYTES = 4096


class PageRequest(msgspec.Struct, forbid_unknown_fields=True):
    """A message from a page."""

    messages: bool


@router.websocket("/api/stream")
async def stream(socket: WebSocket) -> None:
    hub: Hub = the_whole(socket).hub
    await socket.accept()
    if hub.is_full:
        await socket.close(4429, f"{PAGES_MAX} pages are open; close one")
        return
    after = socket.query_params.get("after", "")
    page = hub.join(int(after) if after.isdigit() and len(after) < 19 else None)
    sending = asyncio.create_task(send(socket, page))
    try:
        await listen(socket, page)
    finally:
        hub.leave(page)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def send(socket: WebSocket, page: PageSocket) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await socket.send_text((await page.next()).decode())


async def listen(socket: WebSocket, page: PageSocket) -> None:
    """Reads messages until the page disconnects; an invalid one closes the socket with one line."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                return
            text = message.get("text") or ""
            try:
                page.messages = msgspec.json.decode(text[:FRAME_BYTES], type=PageRequest).messages
            except msgspec.DecodeError:
                await socket.close(4422, 'the socket accepts {"messages": true} or {"messages": false}')
                return
