"""The audit after a trial: it reads every name, attribute and byte, compares the trees of all replicas, and checks fsck and
blocks."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import msgspec
from msgspec.structs import replace

from nodes.config import SECOND, ClusterConfig
from nodes.errors import FsError
from nodes.explore.acknowledgements import Acknowledged
from nodes.explore.applied_groups import AppliedGroups, journal_end
from nodes.explore.block_history import BlockHistory
from nodes.explore.content import read_back as read_content
from nodes.explore.forced_groups import ServedGroups
from nodes.explore.prober import READ_NS, Prober
from nodes.explore.replication import blocks_of, lacking_replicas, leaked_replicas
from nodes.explore.stage import Scripted, Stage
from nodes.families import family_named
from nodes.invariants.registry import InvariantChecks
from nodes.metadata import fsck
from nodes.metadata.operations import Create, List, Mkdir, Stat
from nodes.metadata.pages import TreePage
from nodes.roles import FOLLOWING, SERVING
from nodes.units import ROOT

QUIET_NS = 30 * SECOND
LOOK_NS = SECOND
LOOKS = 8
"""Number of looks after each nudge."""
NUDGES = 6
READ_LOOKS = 5
"""What can be read at one look is read at the last of so many: the slowest standby reads segments of two seconds once a second."""
LANES = 8
CONTENT = "content"
OWN_CLIENTS = ("auditor", "prober")
"""What the names of a trial's own clients begin with."""


class Audited(Protocol):
    """The part of a trial that the audit reads: a cluster at rest, and the known facts of its past."""

    invariants: InvariantChecks
    served: ServedGroups
    applied: AppliedGroups

    @property
    def cluster(self) -> Stage: ...

    @property
    def config(self) -> ClusterConfig: ...

    @property
    def clients(self) -> Sequence[Scripted]: ...

    @property
    def acknowledged(self) -> Acknowledged: ...

    @property
    def block_history(self) -> BlockHistory: ...

    def fail(self, invariant: str, place: str, explanation: str) -> None: ...


class AuditReads(NamedTuple):
    """Everything that a client reads."""

    attributes: dict[str, Any]
    """Attributes by path."""
    content: dict[int, bytes]
    """SHA-256 of the bytes of each file that can be read, by inode number."""


def read_back(trial: Audited) -> AuditReads:
    """Runs the audit; each fault found becomes a failure of the trial. Raises Stuck when a read never returns."""
    number = sum(name.startswith("auditor") for name in trial.cluster.servers) + 1
    prober = Prober(trial.cluster, f"auditor{number}")
    if family_named(trial.config.protocol).journal_nodes:
        check_following(trial, prober)
    else:
        compare_replicas(trial, prober)
    await_quiet(trial.cluster)
    try:
        tree = prober.run(walk(prober))
    except FsError as error:
        trial.fail("read back", error.name, f"the namespace cannot be read: {error}")
        return AuditReads({}, {})
    check_namespaces(trial, tree)
    content = prober.run(check_content(trial, prober, tree))
    read = [path for path, attributes in tree.items() if attributes.inode in content]
    lacking = lacking_replicas(trial.cluster, prober, trial.config.data.nodes, read)
    if lacking:
        trial.fail(CONTENT, "replicas", lacking)
    inodes = {attributes.inode for attributes in tree.values()}
    leaked = leaked_replicas(
        trial.cluster, trial.invariants, trial.config.data.nodes, trial.block_history.granted, inodes
    )
    if leaked:
        trial.fail(CONTENT, "leaked", leaked)
    prober.client.die()
    return AuditReads(tree, content)


def compare(trial: Audited, before: AuditReads, after: AuditReads) -> None:
    """Checks that every attribute and byte is still there. Only the audit has written meanwhile, and only in the root. Symmetric members broadcast
    the times of reads later, and may lose them."""
    lazy = ["atime_ns"] if family_named(trial.config.protocol).replication == "symmetric" else []
    for path, attributes in before.attributes.items():
        now = after.attributes.get(path)
        if now is not None:
            changing = ["mtime_ns", "entries", *lazy] if path == "/" else lazy
            attributes = replace(attributes, **{name: getattr(now, name) for name in changing})
        if now != attributes:
            trial.fail("the same again", "attributes", f"{path} was {attributes} and is {now or 'absent'}")
            return
        if before.content.get(attributes.inode) != after.content.get(attributes.inode):
            trial.fail("the same again", "bytes", f"{path} does not have the bytes that it had")
            return


# --- names and attributes ----------------------------------------------------------------------------------------------


async def walk(prober: Prober) -> dict[str, Any]:
    """Every path with its attributes, as a client sees them, with `LANES` concurrent calls. Raises FsError."""
    call = prober.client.client.call
    found = {"/": (await call(Stat("/"))).result}
    ahead = ["/"]
    while ahead:
        path = ahead.pop()
        children = [f"{path.rstrip('/')}/{name}" for name in await listing(prober, path)]
        for first in range(0, len(children), LANES):
            some = children[first : first + LANES]
            for child, answer in zip(
                some, await asyncio.gather(*(call(Stat(child)) for child in some)), strict=True
            ):
                attributes: Any = answer.result
                found[child] = attributes
                if attributes.kind == "directory":
                    ahead.append(child)
    return found


async def listing(prober: Prober, path: str) -> list[str]:
    names: list[str] = []
    while True:
        page: Any = (await prober.client.client.call(List(path, names[-1] if names else ""))).result
        names += page.names
        if not page.more:
            return names


# --- replicas ----------------------------------------------------------------------------------------------------------


def page_of(cluster: Stage, server: str) -> TreePage:
    """The whole namespace of one server."""
    question: dict[str, Any] = {"do": "tree", "after": 0}
    page = msgspec.convert(cluster.ask(server, question), TreePage, strict=False)
    after = page.after
    while after:
        more = msgspec.convert(cluster.ask(server, {"do": "tree", "after": after}), TreePage, strict=False)
        page.inodes.update(more.inodes)
        page.links.update(more.links)
        after = more.after
    return page


def pages_by_group(cluster: Stage) -> dict[str, dict[str, TreePage]]:
    found: dict[str, dict[str, TreePage]] = {}
    for name, server in cluster.servers.items():
        if server.group and server.process == "running" and cluster.answers(name, "tree"):
            found.setdefault(server.group, {})[name] = page_of(cluster, name)
    return found


async def nudge(prober: Prober, number: int) -> None:
    """Writes once in every group. The message with its journal group also commits the earlier ones, whose commit messages may have been lost."""
    for place in range(NUDGES):
        path = f"/{prober.name}-{number}-{place}"
        if await prober.succeeds(Mkdir(path)):
            await prober.succeeds(Create(f"{path}/f"))


def compare_replicas(trial: Audited, prober: Prober) -> None:
    """Checks that all replicas of a group have the same tree once they have applied the same groups: each group at some moment, not all at one.

    Sessions are renewed meanwhile, so that a replica that is a message behind shows the same state later. With many renewed sessions some
    replica may always be behind, in states too short to be seen on both. The clients are therefore ended when half of the time is over.
    """
    cluster = trial.cluster
    half_ns, until_ns = cluster.now_ns + QUIET_NS // 2, cluster.now_ns + QUIET_NS
    shown: dict[str, set[str]] = {}
    differ = differences(note_shown(shown, pages_by_group(cluster)))
    number = 0
    while differ and cluster.now_ns < until_ns:
        if cluster.now_ns > half_ns:
            for client in trial.clients:
                client.die()
        if number % LOOKS == 0:
            prober.run(nudge(prober, number // LOOKS + 1))
        number += 1
        cluster.run_for(LOOK_NS // LOOKS)
        pages = note_shown(shown, pages_by_group(cluster))
        now = differences(pages)
        differ = {
            group: now[group] for group in differ if group in now and not in_common(shown, pages[group])
        }
    for group, reported in differ.items():
        trial.fail("same trees", group, reported)


def check_following(trial: Audited, prober: Prober) -> None:
    """Checks that every standby of a shared journal reads on. It is late by design, so that it equals the active at no known moment; but while
    there are writes its state changes.

    A placement may keep all or most writes of this check from a group. A standby whose state stays the same must then have every group but the
    leader's last: only the next one says that it is committed.
    """
    cluster, shown = trial.cluster, dict[str, set[str]]()
    note_shown(shown, pages_by_group(cluster))
    behind: dict[str, list[str]] = {}
    written: list[dict[str, int]] = []
    for number in range(QUIET_NS // LOOK_NS):
        # Servers that began from images may have applied no journal group in common before.
        prober.run(nudge(prober, number))
        cluster.run_for(LOOK_NS)
        pages = note_shown(shown, pages_by_group(cluster))
        behind = {
            group: [
                name for name in servers if len(shown[name]) < 2 and cluster.places.get(name) in FOLLOWING
            ]
            for group, servers in pages.items()
        }
        if not any(behind.values()):
            return
        leaders = [(group, name) for group in pages for name in pages[group] if leads(cluster, name)]
        written.append({group: journal_end(cluster, name) for group, name in leaders})
    cluster.await_events()
    late = [
        name
        for group, names in behind.items()
        for name in names
        if not trial.applied.contain(name, written[-READ_LOOKS].get(group, 0) - 1, shown[name])
    ]
    if late:
        trial.fail("same trees", "standby", f"the shared journal is not read by {', '.join(late)}")


def leads(cluster: Stage, server: str) -> bool:
    return cluster.places.get(server) in SERVING


def note_shown(
    shown: dict[str, set[str]], found: dict[str, dict[str, TreePage]]
) -> dict[str, dict[str, TreePage]]:
    """Notes the digest of every state that a server has shown."""
    for pages in found.values():
        for server, page in pages.items():
            shown.setdefault(server, set()).add(page.digest)
    return found


def in_common(shown: dict[str, set[str]], servers: Iterable[str]) -> bool:
    """Whether all of these servers have shown one common state."""
    return bool(set.intersection(*(shown[server] for server in servers)))


def differences(found: dict[str, dict[str, TreePage]]) -> dict[str, str]:
    """By group: the difference of its first two replicas that are not equal."""
    reported: dict[str, str] = {}
    for group, pages in found.items():
        first, *others = pages
        for other in others:
            mine, theirs = pages[first], pages[other]
            if (mine.inodes, mine.links, mine.digest) != (theirs.inodes, theirs.links, theirs.digest):
                reported.setdefault(
                    group, f"{first} and {other} of {group} differ: {difference(mine, theirs)}"
                )
    return reported


def await_quiet(cluster: Stage) -> None:
    """Waits until no operation between groups is under way; lost messages are sent again. The wait is bounded: operations that are open then are
    failures."""
    until_ns = cluster.now_ns + QUIET_NS
    while cluster.now_ns < until_ns and any(page.open or page.orphans for page in leading_pages(cluster)):
        cluster.run_for(LOOK_NS)


def leading_pages(cluster: Stage) -> list[TreePage]:
    """A page of the active of each group. Raises LookupError when none answers, as in a cluster that has not settled."""
    return [leading(cluster, each) for each in pages_by_group(cluster).values()]


def leading(cluster: Stage, pages: dict[str, TreePage]) -> TreePage:
    """The page of a server that answers clients. A standby that reads a shared journal is behind by design, and a joining server may be.

    Raises LookupError when no such server answers, as in a cluster that has not settled.
    """
    for name, page in pages.items():
        if leads(cluster, name):
            return page
    raise LookupError(f"no server serves of {', '.join(pages)}")


def difference(mine: TreePage, theirs: TreePage) -> str:
    for number in sorted({*mine.inodes, *theirs.inodes}):
        a, b = mine.inodes.get(number, "absent"), theirs.inodes.get(number, "absent")
        if a != b:
            return f"inode {number} is {str(a)[:80]} in the one and {str(b)[:80]} in the other"
    return f"digests {mine.digest} and {theirs.digest}, inodes alike"


def check_namespaces(trial: Audited, tree: dict[str, Any]) -> None:
    """Checks that the groups' namespaces are consistent, contain exactly what a client sees, and equal the model's."""
    trial.cluster.run_until(trial.served.settled, READ_NS)
    pages = leading_pages(trial.cluster)
    for fault in fsck.faults(pages)[:3]:
        trial.fail("fsck", fault.partition(":")[0][:40], fault)
    inodes: dict[int, dict[str, int] | None] = {}
    for page in pages:
        inodes.update(page.inodes)
    stored = paths_of(inodes)
    seen = {path: attributes.kind == "directory" for path, attributes in tree.items()}
    report(trial, "read back", "what a client reads", seen, "the servers' trees", stored)
    trial.cluster.await_events()
    model = trial.invariants.paths()
    if model is None and not trial.invariants.unjudged:
        trial.fail("no lost write", "not judged", "no check knows which names must exist")
    if model is not None:
        report(trial, "no lost write", "the model", model, "the servers' trees", stored)


def report(
    trial: Audited, invariant: str, one: str, mine: dict[str, bool], other: str, theirs: dict[str, bool]
) -> None:
    if mine != theirs:
        paths = [path for path in sorted({*mine, *theirs}) if mine.get(path) != theirs.get(path)]
        words = {None: "absent", True: "a directory", False: "a file"}
        path = paths[0]
        trial.fail(
            invariant, f"{one} and {other}",
            f"{len(paths)} paths differ: {path} is {words[mine.get(path)]} in {one} and {words[theirs.get(path)]} in {other}",
        )  # fmt: skip


def paths_of(inodes: dict[int, dict[str, int] | None]) -> dict[str, bool]:
    """Every path from the root, and whether it is a directory."""
    found: dict[str, bool] = {"/": True}
    ahead = [("/", ROOT)]
    while ahead:
        path, number = ahead.pop()
        for name, child in (inodes.get(number) or {}).items():
            below = f"{path.rstrip('/')}/{name}"
            entries = inodes.get(child)
            found[below] = entries is not None
            if entries:
                ahead.append((below, child))
    return found


# --- content -----------------------------------------------------------------------------------------------------------


async def check_content(trial: Audited, prober: Prober, tree: dict[str, Any]) -> dict[int, bytes]:
    """Checks that every byte is one that was written, and that every existing file has all its acknowledged records that no recovery has
    quarantined, unless it has a block that was too thin to be kept. Returns the SHA-256 of each file by inode number."""
    sums: dict[int, bytes] = {}
    acknowledged = {
        tag: place.inode
        for client in trial.clients
        for tag, place in client.acknowledged.items()
        if trial.acknowledged.is_kept(client.name, place)
    }
    files = {attributes.inode: path for path, attributes in tree.items() if attributes.kind == "file"}
    for inode, path in files.items():
        wanted = [tag for tag, home in acknowledged.items() if home == inode]
        try:
            content = b"".join([part async for part in prober.client.files.get(path)])
        except FsError as error:
            blocks, replicas = await blocks_of(prober, path), tree[path].replication
            if wanted and not any(trial.block_history.may_be_lost(block, replicas) for block in blocks):
                trial.fail(CONTENT, error.name, f"{path} cannot be read back: {error}")
            continue
        sums[inode] = hashlib.sha256(content).digest()
        found = read_content(content)
        if found.wrong_at >= 0:
            trial.fail(CONTENT, "bytes", f"{path} has bytes from {found.wrong_at} on that no call wrote")
        lacking = [tag for tag in wanted if tag not in found.tags]
        if lacking:
            trial.fail(
                CONTENT, "acknowledged", f"{path} (inode {inode}) lacks {lacking[0]}, which was acknowledged"
            )
    return sums
