"""From where the control plane can be reached, and what a browser may call it: this machine alone, the network, or a reverse proxy's address."""

from __future__ import annotations

import re
import socket
from ipaddress import AddressValueError, IPv4Address, ip_address
from urllib.parse import urlsplit

import msgspec
from starlette.types import Scope

from backend.errors import Malformed

LOCAL = re.compile(r"(?:127\.0\.0\.1|localhost|\[::1\])(?::(?P<port>\d{1,5}))?", re.IGNORECASE)
NUMBERS = re.compile(r"(?P<host>\d{1,3}(?:\.\d{1,3}){3})(?::(?P<port>\d{1,5}))?")
NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")
SCHEME = "http://"
HTTP_PORT = 80
LOOPBACK, EVERY_ADDRESS = "127.0.0.1", "0.0.0.0"
FAR_AWAY = "192.0.2.1"
"""An address for documentation, which is nobody's."""
DEFAULT_PORTS = {"http": HTTP_PORT, "https": 443}
FORWARDED = b"x-forwarded-for"
NETWORK_WARNING = (
    "Warning: other machines reach this port, and nothing on the way is encrypted. Students have keys of their own; yours works from this machine "
    "alone. Put a reverse proxy with TLS in front where the network is not trusted."
)


class PublicAddress(msgspec.Struct, frozen=True):
    """The address that a reverse proxy on this machine gives the control plane, as `https://lab.example.org`."""

    scheme: str
    host: str
    """With the port, where it is not the scheme's."""

    @classmethod
    def read(cls, text: str) -> PublicAddress:
        """Raises Malformed."""
        wrong = Malformed(f"--public {text[:80]!r}: write https://NAME or https://NAME:PORT, without a path")
        try:
            parts = urlsplit(text.strip().lower())
            port = parts.port
        except ValueError:
            raise wrong from None
        plain = parts.path in ("", "/") and not (parts.query or parts.fragment or parts.username)
        if parts.scheme not in DEFAULT_PORTS or not plain or not NAME.fullmatch(parts.hostname or ""):
            raise wrong
        usual = port in (None, DEFAULT_PORTS[parts.scheme])
        return cls(parts.scheme, parts.hostname or "" if usual else f"{parts.hostname}:{port}")

    @property
    def port(self) -> int:
        _, _, port = self.host.partition(":")
        return int(port or DEFAULT_PORTS[self.scheme])

    def is_host(self, host: str) -> bool:
        """Whether a Host header names it; some proxies write the scheme's port."""
        return host.lower() in (self.host, f"{self.host}:{DEFAULT_PORTS[self.scheme]}")


class NetworkReach(msgspec.Struct, frozen=True):
    network: bool = False
    """Whether other machines reach the port. `Host` may then be an IPv4 address: no foreign name resolves to a host of that form."""
    public: PublicAddress | None = None

    def port_of(self, host: str) -> int | None:
        """The port of an address of this control plane; None for any other host."""
        local = LOCAL.fullmatch(host)
        if local is not None:
            return int(local["port"] or HTTP_PORT)
        if self.public is not None and self.public.is_host(host):
            return self.public.port
        return self._numbered(host) if self.network else None

    def _numbered(self, host: str) -> int | None:
        found = NUMBERS.fullmatch(host)
        try:
            return int(found["port"] or HTTP_PORT) if found and IPv4Address(found["host"]) else None
        except AddressValueError:
            return None

    def is_public(self, host: str) -> bool:
        return LOCAL.fullmatch(host) is None and self.public is not None and self.public.is_host(host)

    def same_place(self, origin: str, host: str) -> bool:
        """Whether an origin and a host are the same. Names of this machine may differ (localhost, 127.0.0.1), ports and schemes must not."""
        if self.public is not None and self.is_public(host):
            scheme, _, address = origin.lower().partition("://")
            return scheme == self.public.scheme and self.public.is_host(address)
        scheme, address = origin[: len(SCHEME)], origin[len(SCHEME) :]
        both_local = LOCAL.fullmatch(address) is not None and LOCAL.fullmatch(host) is not None
        port = self.port_of(address)
        if scheme.lower() != SCHEME or port is None or port != self.port_of(host):
            return False
        return both_local or address.partition(":")[0] == host.partition(":")[0]

    def is_near(self, scope: Scope) -> bool:
        """Whether a request comes from this machine, which a reverse proxy on it does too. Where nobody else reaches the port all do, also
        through the bridge of a container."""
        return not self.network or is_loopback(peer_of(scope))

    def caller_of(self, scope: Scope) -> str:
        """The address whose tries are counted: through the proxy, the last one that it names, which it has seen itself."""
        headers = dict(scope["headers"])
        host = headers.get(b"host", b"").decode("latin-1")
        if is_loopback(peer_of(scope)) and self.is_public(host) and FORWARDED in headers:
            return str(headers[FORWARDED].decode("latin-1").rpartition(",")[2].strip()[:64])
        return peer_of(scope)


LOCAL_REACH = NetworkReach()


def peer_of(scope: Scope) -> str:
    """The address at the other end of the connection."""
    client = scope.get("client")
    return str(client[0]) if client else ""


def is_loopback(address: str) -> bool:
    """Also for a caller without an address, as over a socket of this machine."""
    try:
        return not address or ip_address(address).is_loopback
    except ValueError:
        return False


def reach_of(listen: str, public: str | None) -> NetworkReach:
    """Raises Malformed."""
    return NetworkReach(not is_loopback(listen), PublicAddress.read(public) if public else None)


def join_address(listen: str, port: int, reach: NetworkReach) -> str:
    """Where students join."""
    if reach.public is not None:
        return f"{reach.public.scheme}://{reach.public.host}/join"
    host = network_address() if reach.network and listen == EVERY_ADDRESS else listen
    return f"http://{host}:{port}/join"


def network_address() -> str:
    """The address from which this machine reaches others; no packet is sent to find it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((FAR_AWAY, 9))
        except OSError:
            return LOOPBACK
        return str(probe.getsockname()[0])


def checked_listen(text: str) -> str:
    """An IPv4 address of this machine to listen on. Raises Malformed."""
    try:
        return str(IPv4Address(text))
    except AddressValueError:
        raise Malformed(
            f"--listen {text[:40]!r}: write an IPv4 address of this machine, or 0.0.0.0 for all"
        ) from None
