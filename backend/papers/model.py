"""The keys of a paper (`paper.yaml` in its folder below `papers`) and of a mechanism (the head of its page there)."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from backend.labs.model import ReadingPart
from backend.scenarios.model import ClusterPart, StepPart, WorkloadPart

Line = Annotated[str, msgspec.Meta(min_length=1, max_length=120)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Number = Annotated[int, msgspec.Meta(ge=1, le=99)]
Place = Literal["journals", "timeline", "costs", "namespace", "pool", "checkpoints", "coordination"]
"""An instrument below the picture, or another page of the same cluster."""


class _PaperPart(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


class ShownPart(_PaperPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """Something that a reader causes with a button."""

    text: Line
    """What the button does."""
    do: StepPart
    """A fault, a change of the load, a checkpoint or a recovery, as in a scenario, without a time."""
    see: Text
    """Where to look, and what is seen there."""


class MechanismFile(_PaperPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A mechanism without its page."""

    name: Line
    number: Number
    """Its place in the list of its paper."""
    about: Text
    """The mechanism in one sentence."""
    cites: Annotated[list[ReadingPart], msgspec.Meta(min_length=1, max_length=8)]
    cluster: ClusterPart = ClusterPart()
    workload: WorkloadPart = WorkloadPart(rate="20/s")
    look: Annotated[list[Place], msgspec.Meta(max_length=4)] = []
    steps: Annotated[list[ShownPart], msgspec.Meta(min_length=1, max_length=6)]
    modelled: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    """What is modelled, or different from the paper, because one machine cannot show it; empty where nothing is."""


class ExperimentPart(_PaperPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    name: Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9.-]{0,39}$")]
    """As in `./cloverlab reproduce NAME`."""
    section: Line
    asks: Text
    """Set-up and question."""
    saw: Text
    """What the paper saw, in our words."""
    theirs: dict[str, float] = {}
    """The paper's figures, under the keys of ours; empty where its text gives none."""
    modelled: Annotated[str, msgspec.Meta(max_length=2_000)] = ""
    """What is modelled because one machine cannot do it; empty where nothing is."""


class PaperFile(_PaperPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    short: Literal["CFS", "SAA", "VSSP", "DCFS2", "DCFS3"]
    number: Number
    title: Text
    authors: Text
    published: Text
    about: Text
    experiments: Annotated[list[ExperimentPart], msgspec.Meta(max_length=40)] = []
