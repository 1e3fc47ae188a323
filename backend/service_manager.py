"""Messages to systemd: that the service is ready, and that it stops. Without systemd they go nowhere."""

from __future__ import annotations

import contextlib
import os
import socket

READY = "READY=1"
STOPPING = "STOPPING=1"
ADDRESS = "NOTIFY_SOCKET"


def notify(*lines: str) -> None:
    """Sends sd_notify's datagram (systemd, sd_notify(3)). An address that begins with @ is abstract."""
    address = os.environ.get(ADDRESS, "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.connect("\0" + address[1:] if address.startswith("@") else address)
        channel.sendall("\n".join(lines).encode())
