"""The keys of a lab (`labs/NAME/lab.yaml`) and of a student's script."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from backend.scenarios.model import ClusterPart, ExpectPart, StepPart, WorkloadPart

STEPS_MAX = 20
ACTIONS_MAX = 60
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=2_000)]
Name = Annotated[str, msgspec.Meta(pattern=r"^[a-z][a-z0-9-]{0,39}$")]
Answer = bool | int | float | str


class _LabPart(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    pass


class ValuePart(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A value that is computed from the history of a run: a name of backend/labs/values.py and what it refers to."""

    name: str
    group: str = "g1"
    event: str = ""
    """Kind of event, for the values that count events."""
    verb: str = ""
    """Verb of a fault, for the values that refer to one; empty for any that takes a server away."""
    invariant: str = ""
    """Name of an invariant, for the value `broken`."""


class PredictionPart(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A question that the student answers before the first fault. The run gives the right answer."""

    value: ValuePart
    tolerance: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Largest difference between a number and the run's number, in `unit`."""
    unit: Annotated[str, msgspec.Meta(max_length=40)] = ""
    choices: Annotated[dict[str, Text], msgspec.Meta(max_length=8)] = {}
    """Texts by answer. Without choices the answer is a number."""
    why: Text
    """What explains the answer; shown after the run."""


class FaultPart(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A fault that the student has to cause."""

    verb: str | list[str]
    """The verbs that count."""
    role: Literal["", "active", "standby", "junior", "primary", "secondary", "member"] = ""
    """Role that a target had in the view when the fault began; empty for any."""
    least: Annotated[int, msgspec.Meta(ge=1, le=16)] = 1
    """Number of different targets with that role."""


class BoundPart(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """Bounds of a value of the history."""

    value: ValuePart
    least: float | None = None
    most: float | None = None
    equals: Answer | None = None


class CheckPart(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A check of the run; exactly one of its parts is given."""

    fault: FaultPart | None = None
    expect: ExpectPart | None = None
    """Expectations of scenarios, judged on the state and the history at the end of the run."""
    bound: BoundPart | None = None


class LabStep(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """One step of a lab: a question that is answered before the fault, or something to cause that is checked after the run."""

    id: Name
    text: Text
    predict: PredictionPart | None = None
    check: CheckPart | None = None
    hints: Annotated[list[Text], msgspec.Meta(max_length=6)] = []


class ReadingPart(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    paper: Literal["CFS", "SAA", "VSSP", "DCFS2", "DCFS3"]
    section: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    about: Text


class LabFile(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A lab without its page `lab.md`."""

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    number: Annotated[int, msgspec.Meta(ge=1, le=999)]
    """Its place in the list: labs with small numbers come first."""
    level: Literal["first steps", "further", "hard"] = "further"
    goal: Text
    minutes: Annotated[int, msgspec.Meta(ge=1, le=120)] = 15
    read: Annotated[list[ReadingPart], msgspec.Meta(min_length=1, max_length=8)]
    numbers: dict[Name, Annotated[list[int], msgspec.Meta(min_length=2, max_length=20)]] = {}
    """Numbers that differ by student. `{name}` in a text of the lab is replaced by the student's number."""
    cluster: ClusterPart = ClusterPart()
    workload: WorkloadPart = WorkloadPart()
    seconds: Annotated[int, msgspec.Meta(ge=5, le=180)] = 40
    """Length of a run from the beginning of the workload, in seconds of virtual time."""
    steps: Annotated[list[LabStep], msgspec.Meta(min_length=1, max_length=STEPS_MAX)]


class ScriptPart(_LabPart, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A student's answers and actions, in the order in which the lab asks for them: first the answers."""

    student: Annotated[str, msgspec.Meta(min_length=1, max_length=60)] = "student"
    answers: Annotated[dict[str, Answer], msgspec.Meta(max_length=STEPS_MAX)] = {}
    actions: Annotated[list[StepPart], msgspec.Meta(max_length=ACTIONS_MAX)] = []
