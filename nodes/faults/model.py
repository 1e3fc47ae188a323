"""What is said of a fault verb: its targets, its options, what it does to them and what undoes it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Fabric = Literal["simulated", "processes", "containers"]
FABRICS: tuple[Fabric, ...] = ("simulated", "processes", "containers")
SIMULATED: tuple[Fabric, ...] = ("simulated",)
Target = Literal[
    "server", "data_node", "journal_node", "client", "coordination", "link", "group", "cluster", "links"
]
"""`link`: one or two names, the ends; `links`: none means all of them; `cluster`: takes no target."""
OptionType = Literal["direction", "choice", "whole", "number", "share", "switch", "names", "word"]
"""`direction` is a choice among both, to and from; `share` a number from 0 to 1; `names` one name or a list."""
State = Literal["running", "paused", "stopped"]
MANY = 32
"""Most targets of one fault."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One option of a verb. A bound or a default that is wanted elsewhere is read from here."""

    name: str
    type: OptionType
    default: Any
    help: str
    unit: str = ""
    least: float = 0
    most: float = 0
    """Bounds of a `whole` or `number`; not used by the other types."""
    step: float = 1
    """By how much the page's field goes up and down."""
    choices: tuple[str, ...] = ()
    simulated_choices: tuple[str, ...] = ()
    """Further ones, that only the simulator has."""
    fabrics: tuple[Fabric, ...] = FABRICS
    several: bool = False
    """With it a verb on links takes up to 32 names at one end."""
    shown: bool = True
    """Whether the page's form asks for it."""


class Undo(msgspec.Struct, frozen=True):
    """The verb, with its options, that ends a fault."""

    verb: str
    options: dict[str, Any] = {}


class Verb(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table."""

    verb: str
    label: str
    """On the page, as is `label_one`: what a verb on links or groups is called at a single process, where it is offered there."""
    does: str
    """For docs/faults.md; Markdown."""
    targets: tuple[Target, ...]
    label_one: str = ""
    key: str = ""
    """On the page; empty for a verb of the simulator alone."""
    options: tuple[Option, ...] = ()
    undo: Undo | None = None
    danger: str | None = None
    """What it destroys or stops, said before it is done."""
    counts: tuple[int, int] = (1, 1)
    """Fewest and most targets."""
    states: tuple[State, ...] = ()
    """In which of these states a process has to be; empty for any."""
    lasts: bool = True
    """It is in force until something ends it; the others are over as soon as they are done."""
    mends: bool = False
    """It begins no fault: it ends others."""
    leaves: State | None = None
    """The state in which it leaves a process."""
    unseats: bool = False
    """Its target loses its place in its group: while the fault lasts, or once."""
    damages: bool = False
    """What the disk had synced is lost for good."""
    empties: bool = False
    """Nothing is left on the disk."""
    partial: bool = False
    """Of links: some messages still arrive."""
    drawn: bool = False
    """Whether the explorer draws it."""
    locked: bool | None = None
    """Only for families whose groups have a lock (True) or have none (False)."""
    asks: bool = False
    """The page says what it costs now, and asks once more."""
    fabrics: tuple[Fabric, ...] = FABRICS
    alone: str = ""
    """What only the simulator does with it, for those who ask another fabric: `duplicates messages`."""
    done: str = ""
    """What was done, for a person. {targets}, {last}, {way} and options stand for themselves, a share in per cent; what is in brackets is left
    out where one of its words is not known."""
    done_one: str = ""
    """The same of a verb on links at one name, both ways."""
    undone: str = ""
    """The same when the options are those of its own `undo`."""
    rule: str = ""
    """Of links: what the page writes on one, in the same words."""

    @property
    def ends_process(self) -> bool:
        return self.leaves == "stopped"

    @property
    def on_links(self) -> bool:
        return "link" in self.targets

    @property
    def each(self) -> bool:
        """Whether several targets mean several faults of the same kind, and not ends of links."""
        return self.counts[1] == MANY

    def most_targets(self, given: dict[str, Any]) -> int:
        """With these options."""
        several = any(option.several and given.get(option.name) for option in self.options)
        return MANY if several else self.counts[1]

    def is_undone_by(self, options: dict[str, Any]) -> bool:
        """Whether these options end the fault that the verb began with others."""
        undo = self.undo
        if undo is None or undo.verb != self.verb:
            return False
        return all(options.get(name) == value for name, value in undo.options.items())
