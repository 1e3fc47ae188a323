"""The terms of each family of protocols on the page. `backend.page_types` writes the page's copy."""

from __future__ import annotations

from typing import Literal

import msgspec

from nodes.config import ClusterConfig
from nodes.families import FAMILIES
from nodes.kinds import KINDS, Column, ProcessKind, names_of
from nodes.trace.prose import Terms

State = tuple[str, str]
"""A term and its meaning."""


class Says(msgspec.Struct, frozen=True):
    """Explanations of two terms for a first-time reader."""

    term: str = "counts the actives of a group: each takeover begins the next one"
    place: str = "serial number of a journal group: all servers write the same groups in the same order"


class States(msgspec.Struct, frozen=True):
    """States of a journal group, or of its counterpart, on one server."""

    p: State = ("prepared", "durable here, not known to be committed")
    c: State = ("committed", "committed for good, not in the namespace here yet")
    a: State = ("applied", "committed, and in the namespace of this server")
    e: State = ("other epoch", "conflicts with the committed entry; will be removed")
    x: State = ("missing", "others have it, this server has not")


class Messages(msgspec.Struct, frozen=True):
    """Labels of message colours, where the family has its own."""

    takeover: str = "takeover"
    renewing: str = "renewing, images"
    view: str = "view"


class Vocabulary(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of one family; the defaults are those of MAMS."""

    called: str
    """The family's name, as its authors write it."""
    term: str = "epoch"
    """Term for a tenure and for its number."""
    place: str = "sn"
    """Term for a place in the order of writes."""
    says: Says = Says()
    unit: str = "group"
    """Term for the content of the journal at such a place."""
    batch: str = "group"
    """Term for the unit in which records travel together."""
    states: States = States()
    settled: str = "committed"
    """Term for everything that is committed, up to a place."""
    leads: str = "active"
    follows: str = "standby"
    behind: str = "junior"
    election: str = "Each standby drew a number; the largest one takes the lock."
    """The election of the next leader, as a sentence."""
    elected: str = "upgrading"
    """Task of a server that is elected and does not serve yet."""
    begins: str = "as a junior"
    """First task of an added server."""
    messages: Messages = Messages()
    locked: bool = True
    """Whether one server at a time holds the group's lock and leads; otherwise the members of a view agree."""
    lacks: list[str] = []
    """Pages without content for the family."""


MAMS = Vocabulary(called="MAMS")
SHARED_JOURNAL = Vocabulary(
    called="",
    election="The standby that is first takes it, and shuts the old active out of the journal.",
    elected="taking over",
    messages=Messages(renewing="reading the journal"),
    states=States(p=("written", "in this server's own journal, not known to be committed")),
)
PAXOS = Vocabulary(
    called="Multi-Paxos",
    term="ballot",
    place="slot",
    says=Says(
        "the number of an elected primary; the next one has a larger number",
        "a place in the order of writes; in the end it holds the same record on all servers",
    ),
    unit="record",
    batch="message",
    states=States(
        ("accept", "accepted and durable here, not known to be decided"),
        ("success", "decided, not executed here yet"),
        ("executed", "success: decided, and in the namespace of this server"),
        ("other record", "another record than the decided one: it will be replaced"),
        ("empty", "no record here, though a later slot has one somewhere"),
    ),
    settled="decided",
    leads="primary",
    follows="secondary",
    behind="joining",
    election="Each secondary drew a number; the largest one takes the lock.",
    elected="taking over",
    begins="joining",
    messages=Messages(renewing="joining", view="leases, view"),
)
SYMMETRIC = Vocabulary(
    called="symmetric",
    term="view",
    says=Says("who is a member now, by number: when somebody comes or goes, the next view begins"),
    states=States(
        ("delivered", "in its place of the order and durable here, not known to be on every member"),
        ("stable", "on every member, not carried out here yet"),
        ("carried out", "on every member, and in the namespace of this one"),
        ("other view", "of an attempt at a view that failed; will be removed"),
    ),
    settled="on all members",
    leads="first member",
    follows="member",
    behind="joining",
    election="",
    elected="joining",
    begins="outside the view and joins it",
    messages=Messages("view change", "joining", "leases, view"),
)


def of(table: Vocabulary, called: str, **words: str) -> Vocabulary:
    return msgspec.structs.replace(table, called=called, **words)


WORDS = {
    "mams": MAMS,
    "single": of(MAMS, "single server"),
    "2pc": of(MAMS, "two-phase commit"),
    "backupnode": of(MAMS, "BackupNode"),
    "qjm": of(SHARED_JOURNAL, "QJM"),
    "bookkeeper": of(SHARED_JOURNAL, "BookKeeper"),
    "avatar": of(SHARED_JOURNAL, "AvatarNode"),
    "hadoop-ha": of(SHARED_JOURNAL, "Hadoop HA"),
    "packed-paxos": of(PAXOS, "Packed Multi-Paxos"),
    "multi-paxos": PAXOS,
    "symmetric": SYMMETRIC,
}


def vocabularies() -> dict[str, Vocabulary]:
    """Terms by protocol, with the capabilities that `nodes.families` states."""
    found = {}
    for name, words in WORDS.items():
        family = FAMILIES[name]
        lacks = [] if family.checkpoints else ["checkpoints"]
        found[name] = msgspec.structs.replace(words, locked=family.locked, lacks=lacks)
    return found


NODE_WORDS = {
    "bookkeeper": {"journal node": "bookie", "epoch": "ledger"},
    "avatar": {"journal node": "filer"},
}
"""Names of kinds of node and of their columns, where a family has its own."""


class Lane(msgspec.Struct):
    """A kind of node on the page; the fields are those of `nodes.kinds.ProcessKind`."""

    kind: str
    label: str
    says: str
    sign: str
    linked: Literal["servers", "clients"]
    counted: bool
    columns: list[Column]


def lanes(cluster: ClusterConfig) -> list[Lane]:
    """The kinds of node that a cluster has, in the words of its family."""
    words = {"sn": terms_of(cluster.protocol).place, **NODE_WORDS.get(cluster.protocol, {})}

    def called(word: str) -> str:
        return words.get(word, word)

    def lane(kind: ProcessKind) -> Lane:
        columns = [msgspec.structs.replace(column, label=called(column.label)) for column in kind.columns]
        return Lane(kind.name, called(kind.label), kind.says, kind.sign, kind.linked, kind.counted, columns)

    return [lane(kind) for kind in KINDS.values() if names_of(cluster, kind)]


def terms_of(protocol: str) -> Terms:
    words = WORDS.get(protocol, MAMS)
    return Terms(words.place, words.term)
