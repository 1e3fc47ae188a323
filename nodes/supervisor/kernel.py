"""Applies packet rules in this network namespace, and finds out what its kernel can do."""

from __future__ import annotations

import asyncio
import fcntl
import os
import shutil
import socket
import struct
from contextlib import suppress

from nodes.real.links import EVERYBODY, LinkRule
from nodes.supervisor.packets import Addresses, filter_script, traffic_commands
from nodes.supervisor.reaper import Reaper

OWN_TOOLS = "/usr/local/lib/cloverlab"
"""Copies of nft and tc that carry the one capability they need."""
SIOCGIFADDR = 0x8915
RESOLVE_S = 1.0


class KernelRefused(OSError):
    """A rule could not be set; one line gives the reason."""


class Kernel:
    """`name` is this server's own. The interface with its address belongs to the data network."""

    def __init__(self, name: str, port: int, reaper: Reaper):
        self._name = name
        self._reaper = reaper
        self._port = port
        self.netem = False
        self._applying = asyncio.Lock()
        self._resolved: dict[str, list[str]] = {}
        """The last known addresses: a rule may cut the name server off, and must still be applied."""

    async def address(self) -> str:
        """The server's address on the data network; the loopback's when names are not resolved here."""
        found = await self._addresses_of(self._name)
        return found[0] if found else "127.0.0.1"

    async def _addresses_of(self, host: str) -> list[str]:
        """Resolves in a thread: a name server out of reach answers after seconds only."""
        with suppress(TimeoutError):
            async with asyncio.timeout(RESOLVE_S):
                found = await asyncio.get_running_loop().run_in_executor(None, resolve, host)
            if found:
                self._resolved[host] = found
        return self._resolved.get(host, [])

    async def probe(self) -> None:
        """Checks whether the kernel has netem: sets and removes a discipline without delay."""
        interface = interface_of(await self.address())
        with suppress(OSError):
            await self._run(
                "tc", "qdisc", "add", "dev", interface, "root", "handle", "1:", "netem", "delay", "0ms"
            )
            await self._run("tc", "qdisc", "del", "dev", interface, "root")
            self.netem = True

    async def apply(self, rules: list[LinkRule], hosts: dict[str, str]) -> None:
        """Replaces all standing rules, in the order of the calls; `hosts` has the name of each peer that resolves. Raises KernelRefused."""
        async with self._applying:
            await self._apply(rules, hosts)

    async def _apply(self, rules: list[LinkRule], hosts: dict[str, str]) -> None:
        interface = interface_of(await self.address())
        named = [(peer, host) for peer, host in hosts.items() if peer != EVERYBODY]
        found = await asyncio.gather(*(self._addresses_of(host) for _, host in named))
        addresses = {peer: each for (peer, _), each in zip(named, found, strict=True)}
        await self._run("nft", "-f", "-", given=filter_script(rules, addresses, interface, self._port))
        if self.netem:
            await self._shape(rules, addresses, interface)

    async def _run(self, tool: str, *arguments: str, given: str = "") -> None:
        """Raises KernelRefused with the tool's first line."""
        code, errors = await self._reaper.run([path_of(tool), *arguments], given)
        if code:
            raise KernelRefused(
                f"{tool} refused: {errors.strip().partition(chr(10))[0] or f'exit code {code}'}"
            )

    async def _shape(self, rules: list[LinkRule], addresses: Addresses, interface: str) -> None:
        with suppress(KernelRefused):
            await self._run("tc", "qdisc", "del", "dev", interface, "root")
        for command in traffic_commands(rules, addresses, interface):
            await self._run("tc", *command)


def resolve(name: str) -> list[str]:
    """IPv4 addresses; none for a name that no host has now."""
    try:
        found = socket.getaddrinfo(name, None, socket.AF_INET, socket.SOCK_STREAM)
    except OSError:
        return []
    return sorted({str(each[4][0]) for each in found})


def interface_of(address: str) -> str:
    """The interface that has this address; the loopback when none has."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                request = struct.pack("256s", name.encode()[:15])
                data = fcntl.ioctl(probe.fileno(), SIOCGIFADDR, request)[20:24]
                if socket.inet_ntoa(data) == address:
                    return name
    return "lo"


def path_of(tool: str) -> str:
    """Raises KernelRefused."""
    for place in (OWN_TOOLS, os.environ.get("PATH"), "/usr/sbin:/sbin"):
        if found := shutil.which(tool, path=place):
            return found
    raise KernelRefused(f"{tool} is not installed")
