"""A server reads an image from the pool while messages of the pipeline that once wrote it arrive, or its own rotten copy is moved aside."""

from __future__ import annotations

from typing import Any

import pytest
from crc32c import crc32c

from nodes.config import SECOND
from nodes.protocols.vssp.manifest import decode, partition_file, path_of
from nodes.protocols.vssp.messages import ImagePacket, OpenImage
from nodes.protocols.vssp.packets import PACKET_BYTES
from tests.simulation.vssp.lab import PoolLab, partitions_of


def damaged(lab: PoolLab, name: str) -> list[str]:
    """Partitions that differ from the manifest of their image on this disk."""
    files, found = lab.files(name), []
    for path in [path for path in files if path.startswith("image/") and path.endswith(".manifest")]:
        image = path.removeprefix("image/").removesuffix(".manifest")
        for number, entry in enumerate(decode(bytes(files[path]), image).partitions):
            part = path_of(partition_file(image, number))
            if crc32c(bytes(files.get(part, b""))) != entry.checksum:
                found.append(part)
    return found


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("packets", [0, 1])
def test_late_messages_of_a_pipeline_do_not_touch_what_is_read(seed: int, packets: int) -> None:
    lab = PoolLab(seed, files=20_000)
    late: list[Any] = []
    kinds = (OpenImage, ImagePacket)[: 1 + packets]

    def held(sender: str, receiver: str, message: Any) -> bool:
        if type(message) not in kinds or receiver != "n3":
            return False
        late.append((sender, receiver, message))
        return True

    holding = lab.cluster.hold(held)
    writing = lab.write()
    lab.until(lambda: len(late) > packets)
    lab.cluster.faults.crash("n3")
    lab.until(writing.done)
    holding.drop()
    lab.cluster.faults.restart("n3")
    lab.cluster.run_for(SECOND)
    reading = lab.spawn("n3", lab.pools["n3"].read(["n1", "n2"], lambda: None))
    least = (1 + seed) * PACKET_BYTES
    lab.until(lambda: sum(len(part) >= least for part in partitions_of(lab, "n3").values()) == 4)
    for sender, receiver, message in late[: 1 + packets]:
        lab.cluster.net.carry(sender, receiver, [message])
    lab.until(reading.done)
    lab.cluster.run_for(SECOND)
    assert reading.result() is not None and damaged(lab, "n3") == []


@pytest.mark.parametrize("seed", range(2))
def test_an_image_is_read_after_its_rotten_copy_is_out_of_the_way(seed: int) -> None:
    lab = PoolLab(seed, files=2_000)
    assert lab.written() == lab.names
    files = lab.files("n3")
    files[next(path for path in files if path.endswith(".p01"))][-20] ^= 1
    lab.cluster.faults.crash("n3")
    lab.cluster.faults.restart("n3")

    async def begun() -> Any:
        assert lab.pools["n3"].newest(lambda mark: True) is None
        return await lab.pools["n3"].read(["n1", "n2"], lambda: None)

    assert lab.run("n3", begun()) is not None
    lab.cluster.run_for(5 * SECOND)
    assert damaged(lab, "n3") == []
