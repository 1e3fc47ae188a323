"""Every fault verb there is. Simulator, processes, containers, scenarios, explorer, command line, API, page and docs/faults.md read it."""

from __future__ import annotations

from nodes.families import Family
from nodes.faults.model import MANY, SIMULATED, Fabric, Option, Undo, Verb
from nodes.kinds import KINDS
from nodes.states import ProcessState
from nodes.storage.rot import CORRUPTIBLE, DRAWN

HOUR_MS = 3_600_000
LARGEST_PPM = 500_000
LARGEST_DISK = 1 << 40
TORN = ("prefix", "nothing", "everything", "sectors", "zeros", "any")
"""Remains of bytes that were not synced, after a power loss: those up to some place, none, all, an arbitrary subset of the sectors, the length
without any byte, or one of these for each loss."""
FAILING = ("all", "sync", "read", "write")

NODES = ("server", *KINDS)
PROCESSES = (*NODES, "client", "coordination")
RUNS: tuple[ProcessState, ...] = ("running", "paused")

DIRECTIONS = ("both", "to", "from")
DIRECTION = Option(
    name="direction", type="direction", default="both", choices=DIRECTIONS,
    help="`to`: messages that the first name sends; `from`: messages that it receives",
)  # fmt: skip
OTHERS = Option(
    name="others", type="names", default=None, fabrics=SIMULATED, several=True,
    help="the names at the other end, to cut several from several",
)  # fmt: skip
ENDS = (DIRECTION, OTHERS)
ENDS_TO_MEND = (
    Option(
        name="direction", type="direction", default="both", choices=DIRECTIONS, fabrics=SIMULATED,
        help=DIRECTION.help,
    ),
    OTHERS,
)  # fmt: skip
SHARE = Option(name="share", type="share", default=0.2, step=0.05, help="the share of the messages")


def ms(name: str, default: int, text: str, **more: object) -> Option:
    fields = {"type": "number", "unit": "ms", "most": HOUR_MS, "step": 50, **more}
    return Option(name=name, default=default, help=text, **fields)  # type: ignore[arg-type]


RESTART, RESUME, HEAL = Undo("restart"), Undo("resume"), Undo("heal")

OF_PROCESSES = (
    Verb(
        verb="crash", key="C", label="Crash", targets=PROCESSES, counts=(1, MANY), undo=RESTART, states=RUNS,
        leaves="stopped", unseats=True, drawn=True,
        does="SIGKILL; memory is lost, written bytes stay",
        danger="Kills the process (SIGKILL); its memory is lost.",
        done="Crashed {targets}: its memory is gone",
    ),
    Verb(
        verb="restart", key="R", label="Restart", targets=PROCESSES, counts=(1, MANY), states=("stopped",),
        mends=True, lasts=False,
        does="starts a crashed or stopped process",
        done="Restarted {targets}",
    ),
    Verb(
        verb="respawn", key="Q", label="Crash and start again", targets=NODES, counts=(1, MANY), states=RUNS,
        leaves="stopped", unseats=True, drawn=True,
        does="SIGKILL, and started again at once, as a service manager does (systemd's `Restart=always`): its old session with coordination and its "
        "lock still live. Ends by itself; if the start fails, use `restart`",
        danger="Kills the process (SIGKILL) and starts it again at once; its memory is lost.",
        done="Killed {targets} and started it again at once: its old session still lives",
    ),
    Verb(
        verb="stop", key="S", label="Stop gracefully", targets=NODES, counts=(1, MANY), undo=RESTART, states=RUNS,
        leaves="stopped", unseats=True, drawn=True,
        does="SIGTERM; the session is closed first",
        danger="Ends the process after it has closed its session.",
        done="Stopped {targets} gracefully",
    ),
    Verb(
        verb="power_loss", key="W", label="Power loss", targets=NODES, counts=(1, MANY), undo=RESTART, states=RUNS,
        leaves="stopped", unseats=True, drawn=True,
        options=(
            Option(
                name="torn", type="choice", default="prefix", choices=TORN, fabrics=SIMULATED,
                help="unsynced bytes that survive: `prefix` (up to some offset), `nothing`, `everything`, `sectors` (an arbitrary "
                "subset of the 512-byte sectors), `zeros` (the length alone), `any` (one of these for each file). What a killed process had renamed "
                "in a directory not synced since is undone: all with `nothing`, none with `everything`",
            ),
        ),
        does="SIGKILL, and unsynced bytes are lost, perhaps but for a torn part",
        danger="Kills the process; writes that it has not synced to its disk are lost.",
        done="Took the power from {targets}: unsynced writes are lost",
    ),
    Verb(
        verb="new_disk", key="Y", label="Empty disk", targets=NODES, counts=(1, MANY), undo=RESTART,
        leaves="stopped", unseats=True, damages=True, empties=True, drawn=True,
        does="SIGKILL if it runs, and an empty disk instead of its own; `restart` starts it with that ([replacing a disk](#replacing-a-disk))",
        danger="Kills the process and replaces its disk by an empty one; the old disk's data are lost.",
        done="Gave {targets} an empty disk; restart to start with it",
    ),
    Verb(
        verb="pause", key="P", label="Pause", targets=PROCESSES, counts=(1, MANY), undo=RESUME, states=("running",),
        leaves="paused", unseats=True, drawn=True,
        does="SIGSTOP; clocks go on. The simulator cannot pause coordination",
        danger="Stops the process (SIGSTOP) until it is resumed.",
        done="Paused {targets}: the process is frozen and does not notice",
    ),
    Verb(
        verb="resume", key="U", label="Resume", targets=PROCESSES, counts=(1, MANY), states=("paused",),
        mends=True, lasts=False,
        does="SIGCONT",
        done="Resumed {targets}",
    ),
    Verb(
        verb="gone", label="Lose the machine", targets=(*NODES, "client"), counts=(1, MANY), fabrics=SIMULATED,
        alone="loses machines for ever", lasts=False, leaves="stopped", unseats=True, damages=True, drawn=True,
        does="the machine is lost: the process is killed and never starts again",
    ),
)  # fmt: skip

OF_LINKS = (
    Verb(
        verb="cut", key="X", label="Cut", label_one="Cut off from all others", targets=("link", *PROCESSES), counts=(1, 2),
        undo=HEAL, unseats=True, drawn=True,
        options=(
            DIRECTION,
            Option(
                name="island", type="switch", default=False, several=True, shown=False,
                help="cuts all the names off from all others, not from each other",
            ),
            OTHERS,
        ),
        does="drops messages. One name: all its links; two: the link between them; more with `island`",
        done="Cut {way}", done_one="Cut {targets} off from all others", rule="cut",
    ),
    Verb(
        verb="delay", key="D", label="Delay", targets=("link",), counts=(1, 2), undo=HEAL, drawn=True,
        options=(
            ms("ms", 100, "the delay of each message"),
            ms("jitter_ms", 0, "up to this much more, uniformly drawn; messages keep their order"),
            *ENDS,
        ),
        does="messages arrive later",
        done="Delayed {way} by {ms} ms", rule="{ms} ms slower",
    ),
    Verb(
        verb="lose", key="O", label="Lose", targets=("link",), counts=(1, 2), undo=HEAL, drawn=True,
        options=(SHARE, *ENDS),
        does="a share of the messages is lost. Links to coordination are TCP: losses are delays",
        done="Loses {share} of the messages on {way}", rule="loses {share}",
    ),
    Verb(
        verb="damage", key="G", label="Damage packets", targets=("link",), counts=(1, 2), undo=HEAL, drawn=True,
        options=(SHARE, *ENDS),
        does="flips a bit in a share of the packets that carry content with checksums of its own (images, blocks); not of a ZooKeeper server",
        done="Damages {share} of the packets on {way}", rule="damages {share}",
    ),
    Verb(
        verb="duplicate", key="M", label="Duplicate", targets=("link",), counts=(1, 2), undo=HEAL, drawn=True,
        options=(SHARE, *ENDS),
        does="a share of the messages arrives twice. Links to coordination are TCP: nothing arrives twice there",
        done="Duplicates {share} of the messages on {way}", rule="duplicates {share}",
    ),
    Verb(
        verb="reorder", key="I", label="Reorder", targets=("link",), counts=(1, 2), undo=HEAL, drawn=True,
        options=(SHARE, *ENDS),
        does="a share of the messages arrives late by up to 5 ms, behind later ones. Links to coordination are TCP and keep the order",
        done="Reorders {share} of the messages on {way}", rule="reorders {share}",
    ),
    Verb(
        verb="clog", label="Clog", targets=("link",), counts=(1, 2), undo=HEAL, fabrics=SIMULATED,
        alone="clogs links", drawn=True, options=ENDS,
        does="messages queue in the link and arrive when it is opened, those of one link in order; the seed chooses the order in which several "
        "links open. A connection to coordination stalls",
    ),
    Verb(
        verb="unclog", label="Unclog", targets=("link", "links"), counts=(0, 2), fabrics=SIMULATED, mends=True, lasts=False,
        alone="opens clogged links", options=ENDS_TO_MEND,
        does="opens clogged links",
    ),
    Verb(
        verb="hold", label="Hold", targets=("link",), counts=(1, 2), undo=HEAL, fabrics=SIMULATED,
        alone="holds messages of one kind", drawn=True,
        options=(
            Option(name="kind", type="word", default="", help="the kind of message: `Prepare`, for instance; empty for all"),
            *ENDS,
            Option(name="lost", type="switch", default=False, help="they never arrive"),
        ),
        does="messages of one `kind` wait while all others travel; when the link is healed they arrive late, or are `lost`. `heal` with this "
        "`kind` releases them alone",
    ),
    Verb(
        verb="heal", key="H", label="Heal", label_one="Heal its links", targets=("link", "links", *PROCESSES), counts=(0, 2),
        mends=True, lasts=False,
        options=(
            *ENDS_TO_MEND,
            Option(
                name="kind", type="word", default="", fabrics=SIMULATED, help="releases only held messages of this kind",
            ),
        ),
        does="ends cuts, delays, losses, damage of a link, of all links of one name, or of all",
        done="Healed {way}",
    ),
    Verb(
        verb="heal_all", key="A", label="Heal all", targets=("cluster",), counts=(0, 0), mends=True, lasts=False,
        does="the same for all links",
        done="Healed all links",
    ),
)  # fmt: skip

OF_GROUPS = (
    Verb(
        verb="take_lock", key="L", label="Take the lock away", label_one="Take the lock of {targets}", targets=("group",),
        locked=True, lasts=False, unseats=True, drawn=True,
        does='removes the lock and its owner\'s place from the view (CFS Table 3, "modify the global view")',
        danger="Removes the lock and its owner's place from the global view.",
        done="Took the lock of {targets} from its owner",
    ),
    Verb(
        verb="force_view", key="V", label="Change the view", targets=("group",), locked=False, lasts=False, drawn=True,
        does="a member makes the others agree on a new view now, of all reachable servers; only in families without a lock "
        "([symmetric](../nodes/protocols/symmetric/README.md)), which have no `take_lock`",
        danger="Makes the members agree on a new view now, of all reachable servers.",
        done="Asked {last} for a new view",
    ),
    Verb(
        verb="chaos", key="*", label="Random fault", targets=("group",), lasts=False,
        does="a random fault at one server of the group, or the end of one. Only faults that can be undone and leave every disk's data, at less than "
        "half of the servers at a time: repeat it for chaos that the group survives",
        done="Let chance choose in {targets}",
    ),
    Verb(
        verb="expire_session", key="E", label="Expire the session", targets=("server",), states=RUNS, lasts=False, unseats=True, drawn=True,
        does="ends its session with coordination, if it still has one, also that of a killed server. With a real ZooKeeper this needs the session's "
        "password, which a paused or killed server cannot report",
        danger="Ends the server's session with coordination.",
        done="Ended the session of {targets}",
    ),
    Verb(
        verb="add_server", key="N", label="Add a server", targets=("group",), lasts=False, drawn=True,
        does="a new server joins as a junior",
        done="Added a server to {targets}",
    ),
    Verb(
        verb="remove_server", key="Z", label="Remove it for good", targets=("server",), lasts=False, asks=True, drawn=True,
        does="it leaves its group for good, in families with a configuration of replicas or a shared journal; its process is stopped once it no "
        "longer counts. [How](command-line.md#taking-a-server-out)",
        danger="It leaves its group for good. Its name is not used again; its files stay on its disk.",
        done="Removed {last} from its group",
    ),
    Verb(
        verb="force", key="J", label="Force it to serve", targets=("server",), counts=(1, 2), states=("running",),
        lasts=False, asks=True, drawn=True,
        does="it serves without the others; see [below](#a-group-without-an-active). The name of its group may come first",
        danger="It serves without the others; groups that only they hold are lost.",
        done="Forced {last} to serve[ from sn {sn} on]",
    ),
)  # fmt: skip

OF_DISKS_AND_CLOCKS = (
    Verb(
        verb="slow_disk", key="K", label="Slow disk", targets=NODES, undo=Undo("slow_disk", {"ms": 0}), drawn=True,
        options=(
            ms("ms", 100, "the additional time of each sync; 0 ends it"),
            ms("spread_ms", 0, "up to this much more, uniformly drawn", fabrics=SIMULATED),
            Option(name="share", type="share", default=1.0, fabrics=SIMULATED, help="the share of the syncs"),
        ),
        does="each sync takes longer, also after a restart",
        done="Slowed the disk of {targets} by {ms} ms", undone="The disk of {targets} is as fast as before",
    ),
    Verb(
        verb="fail_disk", key="F", label="Failing disk", targets=NODES, undo=Undo("fail_disk", {"on": False}), drawn=True,
        options=(
            Option(name="on", type="switch", default=True, help="false ends it"),
            Option(
                name="what", type="choice", default="all", choices=FAILING, fabrics=SIMULATED,
                help="the accesses that fail: `all`, `sync`, `read`, `write`",
            ),
            Option(
                name="times", type="whole", default=0, unit="accesses", most=1_000_000, fabrics=SIMULATED,
                help="how many accesses fail, 0 for all. Bytes of a failed sync are read as written and never become durable",
            ),
        ),
        does="writes fail, also after a restart",
        done="The disk of {targets} fails", undone="The disk of {targets} works again",
    ),
    Verb(
        verb="fill_disk", label="Full disk", targets=NODES, fabrics=SIMULATED, undo=Undo("fill_disk", {"on": False}),
        alone="fills disks", drawn=True,
        options=(
            Option(name="free", type="whole", default=0, unit="bytes", most=LARGEST_DISK, help="free space that is left"),
            Option(name="on", type="switch", default=True, help="false ends it"),
        ),
        does="leaves space for `free` bytes; `on: false` ends it",
    ),
    Verb(
        verb="corrupt", key="B", label="Flip a bit on disk", targets=NODES, lasts=False, damages=True, drawn=True,
        options=(
            Option(
                name="what", type="choice", default="journal", choices=CORRUPTIBLE,
                simulated_choices=DRAWN[len(CORRUPTIBLE) :],
                help="the kind of file, of which the newest is taken: `journal` (in the middle), `journal_tail` (its last record), `image`, `block`",
            ),
            Option(
                name="place", type="choice", default="middle", choices=("middle", "drawn"), fabrics=SIMULATED,
                help="`drawn`: any file of the kind and any bit",
            ),
        ),
        does="flips one bit of the newest file on its disk",
        danger="Flips one bit of a file on the server's disk.",
        done="Flipped a bit of the {what} on the disk of {targets}",
    ),
    Verb(
        verb="skew_clock", key="T", label="Skew the clock", targets=NODES, undo=Undo("skew_clock", {"ms": 0}), drawn=True,
        options=(
            ms("ms", 60_000, "the error, forward or (negative) back; 0 ends it", type="whole", least=-HOUR_MS, step=1000),
        ),
        does="its time of day is wrong, forward or back, also after a restart",
        done="Set the clock of {targets} wrong by {ms} ms", undone="The clock of {targets} is right again",
    ),
    Verb(
        verb="drift_clock", label="Let the clock drift", targets=NODES, fabrics=SIMULATED, undo=Undo("drift_clock", {"ppm": 0}),
        alone="lets clocks drift", drawn=True,
        options=(
            Option(
                name="ppm", type="whole", default=1_000, unit="parts per million", least=-LARGEST_PPM, most=LARGEST_PPM,
                help="the error of its rate, faster or (negative) slower; 0 ends it",
            ),
        ),
        does="the server's clocks, all its timers and its time of day, run faster or slower by `ppm` millionths. What they gained stays",
    ),
)  # fmt: skip

VERBS: tuple[Verb, ...] = (*OF_PROCESSES, *OF_LINKS, *OF_GROUPS, *OF_DISKS_AND_CLOCKS)
BY_NAME = {verb.verb: verb for verb in VERBS}
LINK_VERBS = tuple(verb.verb for verb in VERBS if verb.on_links and not verb.mends)
STOPPING = tuple(verb.verb for verb in VERBS if verb.ends_process and verb.lasts)
"""Verbs that end the process until it is restarted."""
AWAY = tuple(verb.verb for verb in VERBS if verb.unseats and verb.undo)
"""Verbs whose target is not in its group until they are undone."""


def verbs_of(family: Family, fabric: Fabric) -> list[Verb]:
    """Verbs for a cluster of this family on this fabric."""
    return [
        verb
        for verb in VERBS
        if fabric in verb.fabrics
        and verb.locked in (None, family.locked)
        and not (verb.verb == "force" and family.cannot_force)
        and not (verb.verb == "add_server" and not family.standbys_max)
        and not (verb.verb == "remove_server" and family.cannot_leave)
    ]


def lasts(name: str) -> bool:
    """Whether a fault of this verb stands until another verb ends it; also for a verb of another version."""
    verb = BY_NAME.get(name)
    return verb is None or verb.lasts
