"""The model of a fault verb: its targets, its options, its effect and the verb that undoes it."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from nodes.kinds import KINDS
from nodes.states import ProcessState

Fabric = Literal["simulated", "processes", "containers"]
FABRICS: tuple[Fabric, ...] = ("simulated", "processes", "containers")
SIMULATED: tuple[Fabric, ...] = ("simulated",)
TARGETS = ("server", *KINDS, "client", "coordination", "link", "group", "cluster", "links")
"""Kinds of target. `link`: one or two names, the ends. `links`: the same, where no name means all links. `cluster`: no target."""
OptionType = Literal["direction", "choice", "whole", "number", "share", "switch", "names", "word"]
"""`direction` is one of both, to, from; `share` a number from 0 to 1; `names` one name or a list."""
MANY = 32
"""Largest number of targets of one fault."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One option of a verb. Code elsewhere that needs a bound or a default reads it from here."""

    name: str
    type: OptionType
    default: Any
    help: str
    unit: str = ""
    least: float = 0
    most: float = 0
    """Bounds of a `whole` or `number`; not used by the other types."""
    step: float = 1
    """Increment of the page's field."""
    choices: tuple[str, ...] = ()
    simulated_choices: tuple[str, ...] = ()
    """Further choices that only the simulator has."""
    fabrics: tuple[Fabric, ...] = FABRICS
    several: bool = False
    """With this option a verb on links takes up to 32 names at one end."""
    shown: bool = True
    """Whether the page's form has a field for it."""


class Undo(msgspec.Struct, frozen=True):
    """The verb, with its options, that ends a fault."""

    verb: str
    options: dict[str, Any] = {}


class Verb(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of faults."""

    verb: str
    label: str
    """Name on the page, as is `label_one`: the name that a verb on links or groups has at a single process, where it is offered there."""
    does: str
    """Description for docs/faults.md; Markdown."""
    targets: tuple[str, ...]
    """Words of TARGETS."""
    label_one: str = ""
    key: str = ""
    """Key on the page; empty for a verb of the simulator alone."""
    options: tuple[Option, ...] = ()
    undo: Undo | None = None
    danger: str | None = None
    """The data or service that it destroys or stops, shown before it is carried out."""
    counts: tuple[int, int] = (1, 1)
    """Smallest and largest number of targets."""
    states: tuple[ProcessState, ...] = ()
    """States in which a process must be; empty for any."""
    lasts: bool = True
    """The fault stands until another verb ends it; other faults are over as soon as they are done."""
    mends: bool = False
    """The verb begins no fault, but ends others."""
    leaves: ProcessState | None = None
    """The state in which it leaves a process."""
    unseats: bool = False
    """The target loses its place in its group, while the fault stands or once."""
    damages: bool = False
    """Synced data of the disk is lost for good."""
    empties: bool = False
    """The disk is empty afterwards."""
    drawn: bool = False
    locked: bool | None = None
    """Only for families whose groups have a lock (True) or have none (False)."""
    asks: bool = False
    """The page shows its present cost, and asks for confirmation."""
    fabrics: tuple[Fabric, ...] = FABRICS
    alone: str = ""
    """The effect that only the simulator has, for error messages on other fabrics: `duplicates messages`."""
    done: str = ""
    """Sentence about the injected fault. {targets}, {last}, {way} and options are replaced by their values, a share by a percentage. Text in
    brackets is left out when one of its values is unknown."""
    done_one: str = ""
    """The sentence for a verb on links at one name, in both directions."""
    undone: str = ""
    """The sentence when the options are those of its own `undo`."""
    rule: str = ""
    """For links: the page's text on a link, with the same placeholders."""

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
        """Largest number of targets with these options."""
        several = any(option.several and given.get(option.name) for option in self.options)
        return MANY if several else self.counts[1]

    def is_undone_by(self, options: dict[str, Any]) -> bool:
        """Whether these options end the fault that the same verb began with other options."""
        undo = self.undo
        if undo is None or undo.verb != self.verb:
            return False
        return all(options.get(name) == value for name, value in undo.options.items())
