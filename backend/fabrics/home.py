"""The data directory of one cluster: its lock, its configuration and its ports."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import random
import secrets
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from backend.errors import ClusterCannotStart, reason_of
from backend.fabrics.children import Roster
from backend.holders import described
from backend.shape import Shape, check, new_config
from nodes.config import ClusterConfig
from nodes.families import family_named
from nodes.format_number import of_other_version
from nodes.kinds import ProcessKind, nodes_of
from nodes.real.private_files import own_file, private_directory, remove_unfinished, replace_file
from nodes.wire.keys import WeakToken, coordination_password, keys_of, read_token

FORMAT = 3
"""Raised with the format of any file in the directory, so that an older directory is refused as a whole."""
PORTS = range(20_000, 32_000)
"""Below the range from which the system takes the ports of outgoing connections."""
SOCKET_PATH_BYTES = 90
"""Longest path of a Unix socket that is used, in bytes; addresses hold about 104."""
CLIENT_ROLES = ("workload", "caller")
"""Roles of processes that send requests and serve none."""
ANY = Shape()
ENDS_S = 10.0
PARTS = (
    "cluster.json", "processes.json", "events.db", "events.db-shm", "events.db-wal", "imported", "token", "keys", "config",
    "coordination", "servers", "logs", "run", "inputs", "beside",
)  # fmt: skip
"""Everything that a cluster writes into its directory."""


class ClusterFile(msgspec.Struct, kw_only=True):
    """`cluster.json`."""

    format: int = FORMAT
    seed: int
    simulated: bool = False
    zookeeper: str | None = None
    cluster: ClusterConfig
    added: dict[str, str] = {}
    """Servers added at run time and their groups."""
    removed: list[str] = []
    """Servers that left their groups for good. Their names are not used again."""
    ports: dict[str, int] = {}


class Home:
    """Holds the lock of the directory from `open` to `close`."""

    def __init__(self, path: Path, lock: int, file: ClusterFile, token: bytes):
        """Raises WeakToken."""
        self.path = path
        self.file = file
        self.token = token
        """The control plane's alone: each process gets the keys of its realms."""
        self.client_keys = keys_of(token, serves=False)
        self.coordination_password = coordination_password(token)
        self._lock = lock
        self._sockets = socket_directory(path)

    @classmethod
    def open(
        cls,
        path: Path,
        wanted: Shape = ANY,
        zookeeper: str | None = None,
        token_file: Path | None = None,
        simulated: bool = False,
        seed: int | None = None,
    ) -> Home:
        """Opens the directory; creates it and its cluster where there is none.

        Raises ClusterCannotStart in one line when it is locked, unwritable, or of another format or shape.
        """

        def choose(path: Path) -> ClusterFile:
            file = read_cluster_file(path / "cluster.json") or new_cluster(wanted, simulated, seed)
            check_kind(path, file, simulated)
            check(path, file.cluster, wanted)
            file.zookeeper = zookeeper
            return file

        return cls._locked(path, choose, token_file)

    @classmethod
    def make(cls, path: Path, cluster: ClusterConfig, seed: int = 0, token_file: Path | None = None) -> Home:
        """Creates a directory for a cluster of exactly this configuration; raises ClusterCannotStart like `open`."""
        return cls._locked(path, lambda _: ClusterFile(seed=seed, cluster=cluster), token_file)

    @classmethod
    def _locked(cls, path: Path, choose: Callable[[Path], ClusterFile], token_file: Path | None) -> Home:
        path = path.expanduser().absolute()
        try:
            private_directory(path)
            lock = take_lock(path)
            try:
                file = choose(path)
                sign(lock)
                remove_unfinished(path)
                token = made_token(token_file) if token_file is not None else own_token(path / "token")
                home = cls(path, lock, file, token)
                home.save()
                home.save_keys()
            except BaseException:
                os.close(lock)
                raise
        except WeakToken as weak:
            raise ClusterCannotStart(str(weak)) from None
        except OSError as error:
            raise ClusterCannotStart(f"cannot use the data directory {path}: {reason_of(error)}") from None
        return home

    @property
    def name(self) -> str:
        return self.file.cluster.cluster

    def servers(self) -> dict[str, str]:
        """Every metadata server that was not removed and its group, in order."""
        return {name: group for name, group in self.ever().items() if name not in self.file.removed}

    def ever(self) -> dict[str, str]:
        """Every metadata server that the cluster has had and its group, in order."""
        return {
            **{name: group.name for group in self.file.cluster.groups for name in group.members},
            **self.file.added,
        }

    def nodes(self) -> dict[str, ProcessKind]:
        """Every node and its kind."""
        return nodes_of(self.file.cluster)

    def directory(self, *parts: str) -> Path:
        directory = self.path.joinpath(*parts)
        directory.mkdir(parents=True, exist_ok=True)
        return directory

    def keys_file(self, role: str) -> Path:
        """The keys of a process of this role."""
        return self.path / "keys" / ("clients.json" if role in CLIENT_ROLES else "servers.json")

    def save_keys(self) -> None:
        self.directory("keys")
        for role in ("server", *CLIENT_ROLES):
            keys = keys_of(self.token, serves=role not in CLIENT_ROLES)
            replace_file(self.keys_file(role), msgspec.json.encode(keys))

    def socket_of(self, name: str) -> Path:
        return self._sockets / f"{name}.sock"

    def port_of(self, name: str, in_use: bool = False) -> int:
        """The recorded port, or a free one that is recorded now. A recorded port that another program has taken is replaced."""
        known = self.file.ports.get(name)
        if known is not None and (in_use or is_free(known)):
            return known
        self.file.ports[name] = free_port(set(self.file.ports.values()))
        self.save()
        return self.file.ports[name]

    def add_server(self, name: str, group: str) -> None:
        self.file.added[name] = group
        self.save()

    def remove_server(self, name: str) -> None:
        self.file.removed.append(name)
        self.save()

    def save(self) -> None:
        data = msgspec.json.format(msgspec.json.encode(self.file), indent=1)
        replace_file(self.path / "cluster.json", data)

    def close(self) -> None:
        """Releases the lock. Sockets of processes that still run stay for the next control plane."""
        with contextlib.suppress(OSError):
            remove_unused(self._sockets)
        with contextlib.suppress(OSError):
            os.close(self._lock)


def take_lock(path: Path) -> int:
    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        signed = os.read(lock, 32).decode("ascii", "replace").strip()
        holder = described(int(signed)) if signed.isdigit() else "pid unknown"
        os.close(lock)
        raise ClusterCannotStart(
            f"{path} is in use by another ./cloverlab up ({holder}); stop it or give another --data or --name"
        ) from None
    return lock


def clear(path: Path) -> None:
    """Removes a cluster and the processes that a killed control plane left; the directory stays.

    Raises ClusterCannotStart for a directory that is in use or cannot be changed.
    """
    try:
        if (path / "cluster.json").exists():
            remove_parts(path)
    except OSError as error:
        raise ClusterCannotStart(f"cannot delete {path}: {reason_of(error)}") from None


def remove_parts(path: Path) -> None:
    """Raises ClusterCannotStart, OSError."""
    lock = take_lock(path)
    try:
        end_leftovers(path)
        for name in PARTS:
            part = path / name
            shutil.rmtree(part) if part.is_dir() and not part.is_symlink() else part.unlink(missing_ok=True)
    finally:
        os.close(lock)


def end_leftovers(path: Path) -> None:
    left = Roster(path).leftovers().values()
    for child in left:
        child.signal(signal.SIGKILL)
    deadline = time.monotonic() + ENDS_S
    while any(child.running for child in left):
        if time.monotonic() > deadline:
            raise ClusterCannotStart(f"processes of {path} do not end")
        time.sleep(0.005)


def sign(lock: int) -> None:
    os.truncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)


def new_cluster(wanted: Shape, simulated: bool, seed: int | None) -> ClusterFile:
    cluster = new_config(wanted, f"clover-{secrets.token_hex(4)}")
    if wanted.config is None and wanted.detection is None and members_detect(cluster):
        cluster = msgspec.structs.replace(cluster, detection="members")
    return ClusterFile(
        seed=secrets.randbits(32) if seed is None else seed, cluster=cluster, simulated=simulated
    )


def members_detect(cluster: ClusterConfig) -> bool:
    """Whether the members of a new cluster, or its journal nodes, detect failures by default: they grant leases, and without one of them the
    others are a majority."""
    servers, nodes = min(len(group.members) for group in cluster.groups), len(cluster.journal.nodes)
    suffice = servers > 1 and nodes > 2 if nodes else servers > 2
    return suffice and not family_named(cluster.protocol).cannot_grant


def check_kind(path: Path, have: ClusterFile, simulated: bool) -> None:
    """Raises ClusterCannotStart when a directory holds a simulated cluster and real servers are wanted, or the reverse."""
    if have.simulated != simulated:
        kind = "a simulated cluster" if have.simulated else "a cluster of real servers"
        raise ClusterCannotStart(
            f"{path} has {kind}; give another --name or --data, or begin anew with --fresh"
        )


def read_cluster_file(path: Path) -> ClusterFile | None:
    if not path.exists():
        return None
    try:
        data = path.read_bytes()
        found = msgspec.json.decode(data, type=dict).get("format")
        if found != FORMAT:
            raise ClusterCannotStart(f"{path} {of_other_version(found, FORMAT)}")
        return msgspec.json.decode(data, type=ClusterFile)
    except msgspec.DecodeError as error:
        raise ClusterCannotStart(f"{path} is damaged: {error}; it was not changed") from None


def made_token(path: Path) -> bytes:
    """The token in this file, created once for its owner alone. One from another source is used as it is. Raises WeakToken, OSError."""
    if not path.exists():
        replace_file(path, secrets.token_hex(32).encode())
    return read_token(path)


def own_token(path: Path) -> bytes:
    """The token of the data directory, which no other user has put there. Raises WeakToken, OSError."""
    token = made_token(path)
    own_file(path)
    return token


def socket_place(path: Path) -> Path:
    """`run/` in the data directory. When that path is too long for a Unix socket, a directory with a short name that is the same each time."""
    directory = path / "run"
    if fits_socket(directory):
        return directory
    name = f"cloverlab-{os.getuid()}-{hashlib.sha256(os.fsencode(path)).hexdigest()[:12]}"
    own = Path(tempfile.gettempdir()) / name
    return own if fits_socket(own) else Path("/tmp") / name


def fits_socket(directory: Path) -> bool:
    """Whether the paths of sockets in it are short enough."""
    return len(os.fsencode(directory)) <= SOCKET_PATH_BYTES - 32


def socket_directory(path: Path) -> Path:
    """A socket directory that only its owner can enter. Raises OSError."""
    directory = socket_place(path)
    private_directory(directory)
    directory.chmod(0o700)
    return directory


def remove_unused(directory: Path) -> None:
    """Removes sockets without a listener, and the directory with the last of them. Raises OSError when some are left."""
    for path in directory.glob("*.sock"):
        if not is_listened_at(path):
            path.unlink(missing_ok=True)
    directory.rmdir()


def is_listened_at(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(str(path))
        except BlockingIOError:
            return True
        except OSError:
            return False
        return True


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def free_port(taken: set[int]) -> int:
    for port in random.sample(PORTS, 200):
        if port not in taken and is_free(port):
            return port
    raise ClusterCannotStart(f"no free port between {PORTS.start} and {PORTS.stop}")
