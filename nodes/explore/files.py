"""Plans and scenarios in files: only values that differ from the defaults."""

from __future__ import annotations

from typing import Any

import msgspec

from nodes.explore.calls import parse
from nodes.explore.plan import Plan
from nodes.families import family_named
from nodes.sim.conditions import BadConditions, check


def sparse(struct: msgspec.Struct) -> dict[str, Any]:
    """A structure without its default values; `plan_of` restores the whole plan."""
    found: dict[str, Any] = {}
    for field in msgspec.structs.fields(struct):
        value = getattr(struct, field.name)
        default = field.default
        if field.default_factory is not msgspec.NODEFAULT:
            default = field.default_factory()
        if value != default:
            found[field.encode_name] = _built(value)
    return found


def _built(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return sparse(value)
    if isinstance(value, list):
        return [_built(each) for each in value]
    return value


def plan_of(raw: Any) -> Plan:
    """The plan in parsed data. Raises ValueError with one line that names the error and its place."""
    try:
        plan = msgspec.convert(raw, Plan)
        for caller in plan.callers:
            for call in caller.calls:
                parse(call)
        check(plan.conditions)
        check_cluster(plan)
    except (msgspec.ValidationError, BadConditions) as error:
        raise ValueError(str(error)) from None
    return plan


def check_cluster(plan: Plan) -> None:
    """Raises ValueError for a cluster that its family does not allow."""
    family = family_named(plan.cluster.protocol)
    groups = plan.cluster.groups
    if not 1 <= len(groups) <= family.groups_max:
        raise ValueError(f"{plan.cluster.protocol} runs 1 to {family.groups_max} groups, not {len(groups)}")
    for group in groups:
        if not 1 <= len(group.members) <= family.standbys_max + 1:
            raise ValueError(
                f"{group.name}: {plan.cluster.protocol} runs 1 to {family.standbys_max + 1} servers in a group, not {len(group.members)}"
            )
