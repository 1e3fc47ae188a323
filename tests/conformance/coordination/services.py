"""The two services under one suite: the embedded server, and a real ZooKeeper where one is installed."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

JARS = (
    "zookeeper zookeeper-jute slf4j-api slf4j-simple log4j-1.2 netty-all metrics-core snappy-java commons-cli"
    " netty-common netty-buffer netty-transport netty-handler netty-codec netty-resolver"
    " netty-transport-native-epoll netty-transport-native-unix-common"
)
REPOSITORY = Path(__file__).parents[3]


def classpath() -> str:
    """Class path of ZooKeeper; empty when its jar is not installed."""
    jars = [Path("/usr/share/java") / f"{name}.jar" for name in JARS.split()]
    return ":".join(str(jar) for jar in jars if jar.exists()) if jars[0].exists() else ""


def why_no_zookeeper() -> str:
    """Reason why no real ZooKeeper can be started; empty when one can."""
    if shutil.which("java") is None:
        return "no Java here: apt-get install default-jre-headless zookeeper"
    return "" if classpath() else "no /usr/share/java/zookeeper.jar here: apt-get install zookeeper"


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def ask_word(port: int, word: bytes) -> bytes:
    """The answer to a four-letter command; empty without a server."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1) as one:
        one.sendall(word)
        data = b""
        while part := one.recv(4096):
            data += part
        return data
    return b""


@contextlib.contextmanager
def ended(process: subprocess.Popen[str]) -> Iterator[None]:
    """Ends the process in any case."""
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)
        if process.stdout is not None:
            process.stdout.close()


def start_embedded(data: Path, port: int = 0, *options: str) -> tuple[subprocess.Popen[str], int]:
    """The embedded server as a process, and its port; its control socket is DATA/control."""
    process = subprocess.Popen(
        [sys.executable, "-m", "nodes.coordination", "--port", str(port), "--data", str(data), "--control", str(data / "control"), *options],
        stdout=subprocess.PIPE, text=True, cwd=REPOSITORY,
    )  # fmt: skip
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the server did not start: exit {process.wait(5)}"
    return process, int(json.loads(line)["port"])


@contextlib.contextmanager
def embedded(data: Path) -> Iterator[int]:
    process, port = start_embedded(data)
    with ended(process):
        yield port


@contextlib.contextmanager
def zookeeper(data: Path) -> Iterator[int]:
    port, file = free_port(), data / "zoo.cfg"
    file.write_text(
        f"tickTime=100\nmaxSessionTimeout=60000\ndataDir={data}\nclientPort={port}\n"
        "clientPortAddress=127.0.0.1\nadmin.enableServer=false\n4lw.commands.whitelist=*\n"
    )
    command = ["java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=error", "-cp", classpath()]
    log = (data / "log.txt").open("w")
    process = subprocess.Popen(
        [*command, "org.apache.zookeeper.server.ZooKeeperServerMain", str(file)],
        stdout=log, stderr=log, text=True, cwd=data,
    )  # fmt: skip
    with log, ended(process):
        deadline = time.monotonic() + 30
        while b"Mode: standalone" not in ask_word(port, b"srvr"):
            assert process.poll() is None, (data / "log.txt").read_text()[-2000:]
            assert time.monotonic() < deadline, "ZooKeeper did not start within 30 s"
            time.sleep(0.05)
        yield port
