"""A pool node's part in a pipeline (VSSP §III.D, Fig. 5): it checks a packet, writes it, forwards it, acknowledges.

A bad packet (a wrong checksum, a gap, an absurd size, an unknown image) causes one event and one message to the writer; present data stays unchanged.
"""

from __future__ import annotations

from collections.abc import Callable

from crc32c import crc32c

from nodes.metadata.images import ImageDamaged
from nodes.metadata.partitions import PARTITIONS_MOST
from nodes.protocols.vssp import messages as m
from nodes.protocols.vssp.acknowledgement import STRATEGIES
from nodes.protocols.vssp.image_directory import LocalImageDirectory
from nodes.protocols.vssp.manifest import (
    PARTITION_MAX,
    Manifest,
    PartitionEntry,
    decode,
    partition_file,
    path_of,
    rank_of,
)
from nodes.protocols.vssp.packets import PACKET_BYTES, bad_chunk
from nodes.trace.pool_events import ImageShelved, PacketRefused
from nodes.wake import Inbox, Wake
from nodes.wire.messages import Message
from nodes.world import AppendFile, World

AT_ONCE = 8
"""Packets that are processed in one turn."""
OPEN_MOST = 4
"""Largest number of images that may be arriving at once."""
CHAIN_MOST = 16
SYNC_BYTES = 1 << 20
"""Bytes that may be written before they are synced, so that no sync takes long."""
WORDS_MOST = 64
"""Largest number of events about unknown peers' packets in one process: they must not fill the disk."""
FORMER = "it was begun before the cluster went back"


class Arriving:
    """The arrived part of one partition."""

    def __init__(self, file: AppendFile):
        self.file = file
        self.have = 0
        self.checksum = 0
        self.unsynced = 0
        self.ended = False
        self.refused_at = -1
        """Offset at which a packet was last refused: the rest of its window is refused without an event."""

    @property
    def entry(self) -> PartitionEntry | None:
        """The partition's entry; None while it is not whole and durable."""
        return PartitionEntry(self.have, self.checksum) if self.ended and not self.unsynced else None


class IncomingImage:
    """One image that is arriving through the chain."""

    def __init__(self, opened: m.OpenImage):
        self.opened = opened
        self.arriving: dict[int, Arriving] = {}
        self.shelved = False
        """The image counts here; this node still forwards it to the chain behind."""

    def whole(self) -> list[PartitionEntry] | None:
        entries = [
            self.arriving[p].entry if p in self.arriving else None for p in range(self.opened.partitions)
        ]
        return None if None in entries else [entry for entry in entries if entry is not None]


class Receiving:
    """Receives images. One procedure writes, so that packets that arrive during a sync share the next one."""

    def __init__(
        self,
        world: World,
        local_images: LocalImageDirectory,
        tidy: Callable[[], None],
        comes_otherwise: Callable[[str], bool],
    ):
        """`comes_otherwise`: whether an image is being read or repaired here, so that its files belong to that procedure."""
        self._world = world
        self._local_images = local_images
        self._tidy = tidy
        self._comes_otherwise = comes_otherwise
        self.incoming: dict[str, IncomingImage] = {}
        self._inbox: Inbox[Message] = Inbox()
        self._replies: list[tuple[str, Message]] = []
        self._wanted = Wake()
        self._unused: list[AppendFile] = []
        """Files of forgotten images, to be closed when no sync uses them."""
        self._words = 0
        self._unknown = ""
        """The unknown image that was refused last: the rest of its packets are refused without an event."""

    def on_message(self, peer: str, message: Message) -> None:
        self._inbox.put(peer, message)
        self._wanted.set()

    async def run(self) -> None:
        """Writes and acknowledges packets, without end. Raises OSError of the disk."""
        while True:
            await self._wanted.wait()
            closes: list[tuple[str, m.CloseImage]] = []
            for place, (peer, message) in enumerate(self._inbox.take(), 1):
                if not place % AT_ONCE:
                    await self._world.clock.sleep(0)
                if type(message) is m.OpenImage:
                    self._open(peer, message)
                elif type(message) is m.ImagePacket:
                    self._take(peer, message)
                elif type(message) is m.ImagePacketAcked:
                    self._relay(message)
                elif type(message) is m.CloseImage:
                    closes.append((peer, message))
            await self._sync()
            for peer, close in closes:
                await self._close(peer, close)
            while self._unused:
                self._unused.pop().close()

    # --- opening ---------------------------------------------------------------------------------------------------

    def _open(self, peer: str, message: m.OpenImage) -> None:
        reason = self._wrong_opening(peer, message)
        if reason:
            self._refuse(peer, message.image, message.round, -1, -1, reason)
            return
        known = self.incoming.get(message.image)
        if known is None:
            if len(self.incoming) >= OPEN_MOST:
                self._forget(min(self.incoming))
            self._local_images.remove_image(message.image)
            self.incoming[message.image] = IncomingImage(message)
        elif message.round > known.opened.round:
            known.opened = message
        place = message.chain.index(self._world.name)
        for after in message.chain[place + 1 : place + 2]:
            self._world.network.send(after, message)

    def _wrong_opening(self, peer: str, message: m.OpenImage) -> str:
        chain, name = message.chain, self._world.name
        try:
            rank = rank_of(message.image)
        except ImageDamaged as error:
            return str(error)
        if rank != (message.mark.incarnation, message.mark.epoch, message.mark.sn):
            return "its name is not that of its last group"
        if self._local_images.is_former(message.image):
            return FORMER
        if not 0 < message.partitions <= PARTITIONS_MOST:
            return f"it has {message.partitions} partitions; {PARTITIONS_MOST} are the most"
        if not 1 < len(chain) <= CHAIN_MOST or len(set(chain)) < len(chain) or name not in chain[1:]:
            return "its chain does not lead here"
        if peer != chain[chain.index(name) - 1]:
            return f"its chain does not lead here by {peer}"
        if message.acknowledging not in STRATEGIES:
            return f"acknowledging {message.acknowledging[:32]!r} is unknown"
        known = self.incoming.get(message.image)
        if known is None and message.image in self._local_images.images():
            return "it is here already"
        if self._comes_otherwise(message.image):
            return "it comes another way"
        if known is not None and known.opened.partitions != message.partitions:
            return "it was opened with another number of partitions"
        return ""

    def forget(self, image: str) -> None:
        """Forgets an image, because it comes another way."""
        if image in self.incoming:
            self._forget(image)

    def forget_below(self, image: str) -> None:
        """Forgets older images that are arriving, because they are useless now."""
        for older in [each for each in self.incoming if each < image]:
            self._forget(older)

    def _forget(self, image: str) -> None:
        gone = self.incoming.pop(image)
        if not gone.shelved:
            self._unused += [arriving.file for arriving in gone.arriving.values()]
            self._wanted.set()

    # --- packets ---------------------------------------------------------------------------------------------------

    def _take(self, peer: str, message: m.ImagePacket) -> None:
        incoming = self.incoming.get(message.image)
        if incoming is None:
            reason = "this image is not open"
            self._refuse(peer, message.image, message.round, message.partition, -1, reason)
            return
        opened = incoming.opened
        if message.round < opened.round:
            return
        arriving = self._arriving(incoming, message.partition)
        reason = "it has no such partition" if arriving is None else wrong_packet(arriving, message)
        if arriving is None or reason:
            have = 0 if arriving is None else arriving.have
            if arriving is None or arriving.refused_at != have:
                self._refuse(opened.chain[0], message.image, opened.round, message.partition, have, reason)
            if arriving is not None:
                arriving.refused_at = have
            return
        if message.offset == arriving.have:
            arriving.file.append(message.data)
            arriving.checksum = crc32c(message.data, arriving.checksum)
            arriving.have += len(message.data)
            arriving.unsynced += len(message.data)
            arriving.ended = message.last
            arriving.refused_at = -1
        place = opened.chain.index(self._world.name)
        for after in opened.chain[place + 1 : place + 2]:
            self._world.network.send(after, message)
        self._acknowledge(opened, place, message.partition, message.offset + len(message.data))

    def _arriving(self, incoming: IncomingImage, partition: int) -> Arriving | None:
        if not 0 <= partition < incoming.opened.partitions:
            return None
        arriving = incoming.arriving.get(partition)
        if arriving is None:
            path = path_of(partition_file(incoming.opened.image, partition))
            arriving = incoming.arriving[partition] = Arriving(self._world.disk.open_append(path))
        return arriving

    def _refuse(self, writer: str, image: str, round: int, partition: int, have: int, reason: str) -> None:
        again, self._unknown = have < 0 and image == self._unknown, image if have < 0 else ""
        self._words += not again
        if self._words <= WORDS_MOST and not again:
            self._world.trace.emit(PacketRefused(image[:64], partition, have, reason))
        self._world.network.send(writer, m.PacketNotTaken(image[:64], round, partition, have, reason))

    # --- acknowledgements ------------------------------------------------------------------------------------------

    def _acknowledge(self, opened: m.OpenImage, place: int, partition: int, offset: int) -> None:
        """Acknowledges. The first half of the chain reports to the writer, the tail to the node before it, the others wait for the tail's
        acknowledgement."""
        chain, name = opened.chain, self._world.name
        if STRATEGIES[opened.acknowledging].early(place, len(chain)):
            to = chain[0]
        elif place == len(chain) - 1:
            to = chain[place - 1]
        else:
            return
        self._replies.append((to, m.ImagePacketAcked(opened.image, opened.round, partition, offset, [name])))

    def _relay(self, message: m.ImagePacketAcked) -> None:
        """Passes the tail's acknowledgement on towards the writer, and adds this node if it has as much."""
        incoming = self.incoming.get(message.image)
        if incoming is None or message.round != incoming.opened.round:
            return
        opened, arriving = incoming.opened, incoming.arriving.get(message.partition)
        place = opened.chain.index(self._world.name)
        holders = message.holders[:CHAIN_MOST]
        if arriving is not None and arriving.have >= message.offset:
            holders = [*holders, self._world.name]
        relayed = m.ImagePacketAcked(opened.image, opened.round, message.partition, message.offset, holders)
        self._replies.append((opened.chain[place - 1], relayed))

    # --- durability ------------------------------------------------------------------------------------------------

    async def _sync(self) -> None:
        """Syncs finished partitions before their end is acknowledged."""
        for incoming in list(self.incoming.values()):
            for arriving in list(incoming.arriving.values()):
                if arriving.unsynced and (arriving.ended or arriving.unsynced >= SYNC_BYTES):
                    await arriving.file.sync()
                    arriving.unsynced = 0
        replies, self._replies = self._replies, []
        for to, reply in replies:
            self._world.network.send(to, reply)

    async def _close(self, writer: str, message: m.CloseImage) -> None:
        incoming, image = self.incoming.get(message.image), message.image
        if incoming is None or not incoming.shelved:
            reason = self._wrong_closing(incoming, message)
            if incoming is None or reason:
                self._refuse(writer, image, 0, -1, -1, reason)
                return
            await self._store_image(incoming, decode(message.manifest, image))
        self._world.network.send(writer, m.ImageShelved(image))

    def _wrong_closing(self, incoming: IncomingImage | None, message: m.CloseImage) -> str:
        if incoming is None:
            return "this image is not open"
        if self._local_images.is_former(message.image):
            return FORMER
        try:
            manifest = decode(message.manifest, message.image)
        except ImageDamaged as damaged:
            return str(damaged)
        return (
            "" if incoming.whole() == manifest.partitions else "its partitions are not what the manifest says"
        )

    async def _store_image(self, incoming: IncomingImage, manifest: Manifest) -> None:
        incoming.shelved = True
        for arriving in incoming.arriving.values():
            arriving.file.close()
        await self._local_images.shelve(manifest)
        self._tidy()
        reported = ImageShelved(manifest.image, manifest.mark.sn, len(manifest.partitions), manifest.size)
        self._world.trace.emit(reported)


def wrong_packet(arriving: Arriving, packet: m.ImagePacket) -> str:
    """Reason why a packet is refused; empty when it is taken, or when all of it is already here."""
    length, end = len(packet.data), packet.offset + len(packet.data)
    if not 0 < length <= PACKET_BYTES or (length < PACKET_BYTES and not packet.last):
        return f"a packet of {length} bytes; {PACKET_BYTES} is the size of all but the last"
    if packet.offset < 0 or end > PARTITION_MAX:
        return f"a partition of {end} bytes; {PARTITION_MAX} is the most"
    if packet.offset > arriving.have:
        return f"offset {packet.offset} comes after {arriving.have}"
    if packet.offset < arriving.have < end or (arriving.ended and end > arriving.have):
        return f"offset {packet.offset} lies within what is here"
    if end <= arriving.have:
        return ""
    bad = bad_chunk(packet.data, packet.sums)
    return "" if bad is None else f"the chunk at offset {packet.offset + bad} has a wrong checksum"
