"""The fault verbs on disks."""

from __future__ import annotations

from nodes.faults.check import FaultUnsupported
from nodes.sim.conditions import CAPACITY
from nodes.sim.fault_verbs import OF_TABLE, Faulting, fault_verb, nanos
from nodes.storage.rot import NothingToRot, choose, draw


class DiskFaults(Faulting):
    """Lost or damaged data stays so when the fault ends."""

    @fault_verb
    def slow_disk(
        self, server: str, ms: float = OF_TABLE, spread_ms: float = OF_TABLE, share: float = OF_TABLE
    ) -> int:
        """Slows syncs: a share of them takes `ms` and up to `spread_ms` longer; 0 for both ends the fault."""
        store = self._server(server).store
        store.slow_ns, store.slow_spread_ns, store.slow_share = nanos(ms), nanos(spread_ms), share
        if not ms and not spread_ms:
            return self._end(server, "slow_disk")
        return self._begin("slow_disk", [server], ms=ms, spread_ms=spread_ms, share=share)

    @fault_verb
    def fail_disk(self, server: str, on: bool = OF_TABLE, what: str = OF_TABLE, times: int = OF_TABLE) -> int:
        """Lets accesses of a kind fail, the next `times` of them or, for 0, until the fault is ended.

        Reads return data of a failed sync as it was written, but no later sync of the file makes it durable.
        """
        store = self._server(server).store
        if not on:
            store.fails = False
            store.failing.clear()
            return self._end(server, "fail_disk")
        if what == "all" and not times:
            store.fails = True
        else:
            store.failing[what] = times or -1
        return self._begin("fail_disk", [server], on=on, what=what, times=times)

    @fault_verb
    def fill_disk(self, server: str, free: int = OF_TABLE, on: bool = OF_TABLE) -> int:
        """Leaves room for so many bytes; later removals and writes change that amount."""
        store = self._server(server).store
        if not on:
            store.capacity = self._cluster.conditions.disk_capacity
            return self._end(server, "fill_disk")
        store.capacity = min(store.used() + free, CAPACITY)
        return self._begin("fill_disk", [server], free=free, on=on)

    @fault_verb
    def corrupt(self, server: str, what: str = OF_TABLE, place: str = OF_TABLE) -> int:
        """Flips one bit: in the middle of the newest such file, or at a drawn place in any such file."""
        store = self._server(server).store
        sizes = {path: len(file.data) for path, file in store.files.items()}
        rng = store.stream(self._cluster.now_ns)
        try:
            path, offset = choose(what, sizes) if place == "middle" else draw(what, sizes, rng)
        except NothingToRot as error:
            raise FaultUnsupported(f"{server}: {error}") from None
        store.files[path].data[offset] ^= 1 if place == "middle" else 1 << rng.randrange(8)
        return self._begin("corrupt", [server], what=what, place=place)
