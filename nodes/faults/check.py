"""Validation of a fault: the verb, its options with their defaults, and its number of targets. One line gives the error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nodes.faults.model import Fabric, Option, Verb
from nodes.faults.table import BY_NAME, PROCESSES
from nodes.kinds import KINDS

WORD_MOST = 80
A_KIND = {
    "server": "a metadata server", **{kind.name: f"a {kind.label}" for kind in KINDS.values()}, "client": "a client",
    "coordination": "coordination", "group": "a group",
}  # fmt: skip


class FaultUnsupported(Exception):
    """The fault is impossible here or now; one line gives the reason."""


class UnknownFault(FaultUnsupported):
    """No verb has this name."""


class WrongFault(FaultUnsupported):
    """An option, or the number or kind of the targets, is invalid on every fabric and at any time."""

    def __init__(self, line: str, option: str = ""):
        super().__init__(line)
        self.option = option
        """The invalid option; empty when the targets are invalid."""


def verb_named(name: str, fabric: Fabric | None = None) -> Verb:
    """The verb with this name; without a fabric, of any. Raises UnknownFault, or FaultUnsupported for a verb of another fabric."""
    verb = BY_NAME.get(name)
    if verb is None:
        there = [each.verb for each in BY_NAME.values() if fabric is None or fabric in each.fabrics]
        raise UnknownFault(f"no fault is called {name[:40]!r}; there are {', '.join(there)}")
    if fabric is not None and fabric not in verb.fabrics:
        raise FaultUnsupported(f"only the simulator {verb.alone}; real servers cannot do {name}")
    return verb


def options_of(verb: Verb, fabric: Fabric | None = None) -> dict[str, Option]:
    return {o.name: o for o in verb.options if fabric is None or fabric in o.fabrics}


def resolved(verb: Verb, given: dict[str, Any], fabric: Fabric | None = None) -> dict[str, Any]:
    """The value of every option of the fabric, with its default where none is given.

    An option that a fabric lacks may be given with its default. Raises WrongFault for an unknown option or an invalid value, FaultUnsupported
    for one that the fabric cannot do.
    """
    known = {option.name: option for option in verb.options}
    for name in given:
        if name not in known:
            there = f"it has {', '.join(known)}" if known else "it has none"
            raise WrongFault(f"{verb.verb} has no option {name[:40]!r}; {there}", name)
    values = {name: _checked(verb, option, given.get(name, option.default)) for name, option in known.items()}
    here = options_of(verb, fabric)
    for name, value in values.items():
        if name not in here and value != known[name].default:
            raise FaultUnsupported(f"only the simulator has option {name} of {verb.verb}")
        if fabric not in (None, "simulated") and value in known[name].simulated_choices:
            raise FaultUnsupported(f"only the simulator has {name} {value} of {verb.verb}")
    return {name: values[name] for name in here}


def check_count(verb: Verb, targets: list[str], options: dict[str, Any]) -> None:
    """Raises WrongFault for too few or too many targets."""
    fewest, most = verb.counts[0], verb.most_targets(options)
    if fewest <= len(targets) <= most:
        return
    wanted = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    several = [option.name for option in verb.options if option.several]
    more = f"; more with {' or '.join(several)}" if several and len(targets) > most else ""
    if len(targets) < fewest:
        more = f"; a target is {' or '.join(A_KIND[each] for each in A_KIND if each in verb.targets)}"
    raise WrongFault(
        f"{verb.verb} takes {wanted} target{'' if wanted == '1' else 's'}, was given {len(targets)}{more}"
    )


def check_kind(verb: Verb, targets: list[str], kind_of: Callable[[str], str | None]) -> None:
    """Checks that the verb takes targets of these kinds. Several targets are all checked if they are ends of a link or separate faults;
    otherwise only the last one is. Unknown names are left to other checks. Raises WrongFault."""
    takes = {*verb.targets, *(PROCESSES if verb.on_links else ())}
    for target in targets if verb.each or verb.on_links else targets[-1:]:
        kind = kind_of(target)
        if kind is not None and kind not in takes:
            there = ", ".join(A_KIND[each] for each in A_KIND if each in takes)
            raise WrongFault(f"{verb.verb} takes {there}; {target} is {A_KIND[kind]}")


# --- values ------------------------------------------------------------------------------------------------------------


def _checked(verb: Verb, option: Option, value: Any) -> Any:
    if not _fits(option, value):
        shown = repr(value)[:40]
        raise WrongFault(f"option {option.name} of {verb.verb} is {wanted(option)}, not {shown}", option.name)
    return float(value) if option.type == "share" else value


def _fits(option: Option, value: Any) -> bool:
    number = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    match option.type:
        case "whole":
            return number and isinstance(value, int) and option.least <= value <= option.most
        case "number":
            return number and option.least <= value <= option.most
        case "share":
            return number and 0 <= value <= 1
        case "switch":
            return isinstance(value, bool)
        case "names":
            return value is None or _is_names(value)
        case "word":
            return isinstance(value, str) and len(value) <= WORD_MOST
        case "choice" | "direction":
            return value in (*option.choices, *option.simulated_choices)


def _is_names(value: Any) -> bool:
    names = [value] if isinstance(value, str) else value
    return isinstance(names, list | tuple) and all(isinstance(name, str) for name in names)


def wanted(option: Option) -> str:
    """The valid values, as text: `a number of ms from 0 to 3600000`."""
    match option.type:
        case "whole" | "number":
            kind = "whole number" if option.type == "whole" else "number"
            return f"a {kind} of {option.unit} from {option.least:.0f} to {option.most:.0f}"
        case "share":
            return "a share from 0 to 1"
        case "switch":
            return "true or false"
        case "names":
            return "a name or a list of names"
        case "word":
            return f"a word of at most {WORD_MOST} characters"
        case "choice" | "direction":
            return f"one of {', '.join((*option.choices, *option.simulated_choices))}"
