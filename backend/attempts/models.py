"""Attempts at labs in the API's requests and responses."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict

StepWord = Annotated[str, Field(max_length=40)]


class AttemptRequest(Strict):
    lab: str = Field(max_length=40)
    student: str = Field(min_length=1, max_length=60, description="The name draws the numbers.")


class Predictions(Strict):
    answers: dict[StepWord, bool | int | float | str] = Field(
        max_length=20, description="One for each question."
    )


class HintRequest(Strict):
    step: StepWord


class AttemptStep(BaseModel):
    id: str
    state: Literal["open", "answered", "passed", "failed"]
    seen: str = Field(description="What the run did, in one line.")
    why: str = Field(description="Explanation of a prediction, after the run.")
    answer: str
    hints: list[str] = Field(description="The hints that were asked for.")
    hints_left: int


class AttemptOut(BaseModel):
    name: str = Field(description="Of the attempt and of its cluster.")
    lab: str
    student: str
    phase: Literal["predict", "run", "over"]
    passed: bool = Field(description="Whether the run is over and every step is passed.")
    run_s: float = Field(description="Virtual time since the workload began, in seconds.")
    steps: list[AttemptStep]
    lost: list[str] = Field(description="The story of the first broken promise, a line each, after the run.")
    trouble: str = Field(description="Why the progress could not be kept, or the cluster ended; empty else.")
