"""Coverage of a trial: steps under faults, pairs of roles, kinds of refusals. Seeds that reach a new feature are kept."""

from __future__ import annotations

from nodes.config import ClusterConfig
from nodes.explore.draw_faults import DRAWN, NEEDS
from nodes.explore.progress import STEPS
from nodes.explore.stage import Stage
from nodes.families import family_named
from nodes.trace.checkpoints import CheckpointOutcome
from nodes.trace.events import (
    Cut,
    Ignored,
    JournalOpened,
    Placed,
    Renewing,
    RoleChanged,
    Stamped,
    StepTaken,
    StoppedServing,
)
from nodes.trace.pool_events import ImageRefused

PLAIN = (Cut, ImageRefused, StoppedServing)


class Coverage:
    """Features as short strings; each begins with the replication that it belongs to."""

    def __init__(self, cluster: Stage, config: ClusterConfig):
        self._cluster = cluster
        self._family = family_named(config.protocol).replication
        self._roles: dict[str, str] = {}
        self._last_step = ""
        self.seen: set[str] = set()

    def note_fault(self, verb: str) -> None:
        """Notes a fault together with the last step."""
        self._add(f"{verb} after {self._last_step}")

    def on_event(self, stamped: Stamped) -> None:
        event = stamped.event
        kind = type(event)
        if kind is StepTaken:
            step = f"{event.procedure}/{event.step}"  # type: ignore[union-attr]
            self._add(f"{self._last_step} then {step}")
            self._last_step = step
            for verb in self._standing():
                self._add(f"{step} under {verb}")
        elif kind is RoleChanged:
            self._roles[stamped.server] = event.role  # type: ignore[union-attr]
            self._add(f"roles {' '.join(sorted(self._roles.values()))}")
        elif kind is Ignored:
            self._add(f"ignored {event.kind}")  # type: ignore[union-attr]
        elif kind is Renewing:
            self._add(f"renewing {event.phase} under {' '.join(self._standing())}")  # type: ignore[union-attr]
        elif kind is JournalOpened:
            self._add(f"opened cut={bool(event.cut_bytes)} image={bool(event.image_sn)}")  # type: ignore[union-attr]
        elif kind is CheckpointOutcome or kind in PLAIN:
            self._add(f"{kind.__name__} under {' '.join(self._standing())}")
        elif kind is Placed:
            self._add(f"placed {event.state}")  # type: ignore[union-attr]

    def _add(self, feature: str) -> None:
        self.seen.add(f"{self._family}: {feature}")

    def _standing(self) -> list[str]:
        return sorted({verb for verb, _ in self._cluster.faults.standing.values()})


def unreached(coverage: set[str], protocols: list[str]) -> list[str]:
    """Steps of these families that no trial took, and faults that no trial carried out."""
    replications = dict.fromkeys(family_named(protocol).replication for protocol in protocols)
    missed = []
    for replication in replications:
        mine = [feature for feature in coverage if feature.startswith(f"{replication}: ")]
        missed += [
            f"{replication} {step}"
            for step in STEPS.get(replication, ())
            if not any(feature.endswith(f" then {step}") for feature in mine)
        ]
    done = {
        feature.partition(": ")[2].partition(" after ")[0] for feature in coverage if " after " in feature
    }
    families = [family_named(protocol) for protocol in protocols]
    possible = [verb for verb in DRAWN if verb not in NEEDS or any(NEEDS[verb](each) for each in families)]
    return missed + [f"fault {verb}" for verb in possible if verb not in done]
