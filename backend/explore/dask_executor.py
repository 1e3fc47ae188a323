"""Trials on a running Dask cluster, whose workers have a checkout of the same version."""

from __future__ import annotations

import asyncio
import queue
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from backend.code_digest import code_digest
from backend.errors import ClusterCannotStart, Malformed
from backend.explore.executors import WorkersLost

ADDRESS = re.compile(r"^(?:(?:tcp|tls|ws|wss)://)?(?:[\w.-]{1,253}|\[[\da-fA-F:.%\w]{2,64}\]):(\d{1,5})$")
CONNECT_S = 5
GREET_S = 20
"""A worker starts a process, which imports this project, before it answers."""
LOOK_S = 2
"""Interval between queries of the workers."""
GRACE_S = 10
"""Longest time without any worker: a nanny starts another process for one that was killed."""
QUIET = dict.fromkeys(("distributed", "distributed.client", "tornado.application", "asyncio"), "critical")
"""Log levels that silence the libraries; this module reports each failure once."""
GONE = "the Dask scheduler has gone"


def carried() -> tuple[Callable[[str], None], Callable[[str, bytes], bytes]]:
    """Functions that the workers call. A nested function travels as code and not by name, so the scheduler can load it without this project."""

    def greet(digest: str) -> None:
        from backend.explore.trial_process import ready

        ready(digest)

    def work(digest: str, job: bytes) -> bytes:
        from backend.explore.trial_process import work_apart

        return work_apart(digest, job)

    return greet, work


class Dask:
    """Trials spread by the scheduler. It runs the trials of a lost worker again on other workers."""

    def __init__(self, address: str):
        port = ADDRESS.match(address)
        if port is None or not 0 < int(port[1]) < 65_536:
            raise Malformed(f"--dask {address[:80]!r} is not an address: write tcp://HOST:PORT")
        self._address = address
        self._digest = code_digest()
        self._greet, self._work = carried()
        self._open: set[Any] = set()
        self._done: queue.Queue[Any] = queue.Queue()
        self._looked_s = self._seen_s = time.monotonic()
        self._gone = False
        self._client: Any = self._connected()
        try:
            self._threads = self._greeted()
        except BaseException:
            self.close()
            raise

    def _connected(self) -> Any:
        """Raises ClusterCannotStart."""
        try:
            import dask

            dask.config.set(logging=QUIET)
            from distributed import Client
        except ImportError:
            raise ClusterCannotStart(
                "--dask needs the package distributed; the extra `dask`, or requirements-test.lock, installs it"
            ) from None
        warnings.filterwarnings("ignore", module="distributed")
        try:
            asyncio.run(asyncio.wait_for(knock(self._address), 2 * CONNECT_S))
            return Client(self._address, timeout=CONNECT_S, set_as_default=False)
        except Exception as error:  # a foreign server may cause any error
            raise ClusterCannotStart(
                f"--dask {self._address}: no Dask scheduler answers: {words(error)}"
            ) from None

    def _greeted(self) -> int:
        """Number of threads of the workers, each of which has shown that it can run a trial. Raises ClusterCannotStart."""
        try:
            self._client.wait_for_workers(1, timeout=GRACE_S)
            threads = self._asked()
        except (TimeoutError, OSError):
            raise ClusterCannotStart(f"--dask {self._address}: the cluster has no worker") from None
        answers = {
            worker: self._client.submit(self._greet, self._digest, workers=[worker], pure=False)
            for worker in threads
        }
        until_s = time.monotonic() + GREET_S
        for worker, answer in answers.items():
            try:
                answer.result(timeout=max(0.1, until_s - time.monotonic()))
            except TimeoutError:
                raise ClusterCannotStart(
                    f"--dask: the worker {worker} took no work within {GREET_S} s"
                ) from None
            except Exception as error:  # a worker may lack any package
                raise ClusterCannotStart(
                    f"--dask: the worker {worker} cannot run trials: {words(error)}; start it in a checkout of this version"
                ) from None
        return sum(threads.values())

    def _asked(self) -> dict[str, int]:
        """Number of threads by worker. Raises OSError, TimeoutError."""
        found: dict[str, int] = self._client.sync(self._client.scheduler.ncores, callback_timeout=CONNECT_S)
        return found

    @property
    def width(self) -> int:
        return 2 * max(1, self._threads)

    def submit(self, job: bytes) -> None:
        self._look()
        future = self._client.submit(self._work, self._digest, job, pure=False)
        self._open.add(future)
        future.add_done_callback(self._done.put)

    def results(self, timeout_s: float) -> Iterator[bytes]:
        self._look()
        with suppress(queue.Empty):
            yield from self._result(self._done.get(timeout=timeout_s))
            while True:
                yield from self._result(self._done.get_nowait())

    def _result(self, future: Any) -> Iterator[bytes]:
        """Results of a job. A job whose worker died with its result yields none and runs again."""
        try:
            result = future.result(timeout=CONNECT_S)
        except TimeoutError:
            self._done.put(future)
            return
        except Exception as error:  # a trial may fail on the worker in any way
            self._look(now=True)
            raise WorkersLost(f"a Dask worker could not run a trial: {words(error)}") from None
        self._open.discard(future)
        yield result

    def _look(self, now: bool = False) -> None:
        """Raises WorkersLost when no worker is left."""
        if self._gone or self._client.status != "running":
            raise WorkersLost(GONE)
        now_s = time.monotonic()
        if now_s - self._looked_s < LOOK_S and not now:
            return
        self._looked_s = now_s
        try:
            self._threads = sum(self._asked().values())
        except (TimeoutError, OSError):
            # the client may see the end of its connection only later
            self._gone = True
            raise WorkersLost(GONE) from None
        if self._threads:
            self._seen_s = now_s
        elif now_s - self._seen_s > GRACE_S:
            raise WorkersLost("the Dask cluster has no worker any more")

    def close(self) -> None:
        self._open.clear()
        with suppress(TimeoutError, OSError):
            self._client.close(timeout=CONNECT_S)


async def knock(address: str) -> None:
    """Returns when a Dask scheduler answers at the address; a `Client` would wait for ever for a silent peer."""
    from distributed.comm.core import connect
    from distributed.security import Security

    comm = await connect(address, timeout=CONNECT_S, **Security().get_connection_args("client"))
    await comm.close()


def words(error: BaseException) -> str:
    """The error in one line."""
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
