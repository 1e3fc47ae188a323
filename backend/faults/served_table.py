"""The table of faults that the page receives: the verbs of one cluster, with the options that its fabric has and a pointer can give."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.families import Family
from nodes.faults.check import options_of
from nodes.faults.model import Fabric, Option
from nodes.faults.table import verbs_of


def served(family: Family, fabric: Fabric) -> list[dict[str, Any]]:
    found = []
    for verb in verbs_of(family, fabric):
        options = [
            msgspec.structs.replace(option, choices=choices_of(option, fabric), simulated_choices=())
            for option in options_of(verb, fabric).values()
            if option.type != "names"
        ]
        found.append(msgspec.to_builtins(msgspec.structs.replace(verb, options=tuple(options))))
    return found


def choices_of(option: Option, fabric: Fabric) -> tuple[str, ...]:
    return (*option.choices, *option.simulated_choices) if fabric == "simulated" else option.choices
