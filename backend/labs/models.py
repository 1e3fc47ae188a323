"""Labs in the API's requests and responses."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class LabRow(BaseModel):
    lab: str
    name: str
    goal: str
    level: Literal["first steps", "further", "hard"]
    papers: list[str]
    minutes: int
    done: bool = Field(description="Whether a run of this student has passed every step.")


class LabQuestion(BaseModel):
    unit: str
    choices: dict[str, str] = Field(description="Texts by answer; empty when the answer is a number.")


class LabStepOut(BaseModel):
    id: str
    text: str
    question: LabQuestion | None = Field(description="None for a step that is checked after the run.")
    hints: int = Field(description="How many there are.")


class LabOut(LabRow):
    page: str = Field(description="Markdown, with the student's numbers.")
    numbers: dict[str, int]
    seconds: int = Field(description="Length of a run, in seconds of virtual time.")
    cluster: dict[str, Any] = Field(description="As in a scenario.")
    workload: dict[str, Any]
    read: list[dict[str, str]]
    steps: list[LabStepOut]


class LabRunRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    student: Annotated[str, Field(min_length=1, max_length=60)]
    answers: Annotated[dict[str, bool | int | float | str], Field(max_length=20)] = {}
    actions: Annotated[list[dict[str, Any]], Field(max_length=60)] = []
    """Steps of a scenario, without `expect`."""


class StepVerdict(BaseModel):
    id: str
    passed: bool
    seen: str
    why: str


class LabVerdict(BaseModel):
    lab: str
    student: str
    numbers: dict[str, int]
    passed: bool
    steps: list[StepVerdict]
    lost: list[str] = Field(description="The story of the first broken promise, a line each.")
