"""A ZooKeeper server, as a supervisor starts and queries it."""

from __future__ import annotations

import asyncio
from pathlib import Path

CLIENT_PORT = 2181
JARS = "zookeeper zookeeper-jute slf4j-api slf4j-simple netty-all metrics-core snappy-java commons-cli"
CLASSES = ":".join(f"/usr/share/java/{name}.jar" for name in JARS.split())
TICK_MS = 100
"""Sessions may be as short as two ticks and are ended on a tick."""
ROLES = {"leader": "leader", "follower": "follower"}
ANSWER_S = 1.0
ANSWER_BYTES = 4096


def configuration(servers: list[str], data: Path) -> str:
    """`zoo.cfg` of an ensemble. A leader is given up after two seconds of silence."""
    lines = [
        f"tickTime={TICK_MS}",
        "initLimit=100",
        "syncLimit=20",
        f"dataDir={data}",
        "maxSessionTimeout=60000",
        "maxClientCnxns=0",
        "admin.enableServer=false",
        "4lw.commands.whitelist=srvr",
        "autopurge.snapRetainCount=3",
        "autopurge.purgeInterval=1",
        *(f"server.{number}={name}:2888:3888;{CLIENT_PORT}" for number, name in enumerate(servers, 1)),
    ]
    return "\n".join(lines) + "\n"


def prepare(name: str, servers: list[str], data: Path) -> list[str]:
    """Writes the server's files and returns its command. Raises ValueError when it does not belong to the ensemble."""
    data.mkdir(parents=True, exist_ok=True)
    (data / "myid").write_text(f"{servers.index(name) + 1}\n")
    file = data / "zoo.cfg"
    file.write_text(configuration(servers, data))
    return [
        "java", "-Xms48m", "-Xmx64m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:MaxMetaspaceSize=64m",
        "-Xshare:auto", "-Xss512k", "-Dzookeeper.electionPortBindRetry=0",
        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", CLASSES, "org.apache.zookeeper.server.quorum.QuorumPeerMain", str(file),
    ]  # fmt: skip


async def role() -> str:
    """One of leader, follower, looking (the server answers but serves no client), down."""
    try:
        async with asyncio.timeout(ANSWER_S):
            reader, writer = await asyncio.open_connection("127.0.0.1", CLIENT_PORT)
            try:
                writer.write(b"srvr")
                answer = (await reader.read(ANSWER_BYTES)).decode("utf-8", "replace")
            finally:
                writer.close()
    except (OSError, TimeoutError):
        return "down"
    mode = next(
        (line.partition(":")[2].strip() for line in answer.splitlines() if line.startswith("Mode")), ""
    )
    return ROLES.get(mode, "looking")
