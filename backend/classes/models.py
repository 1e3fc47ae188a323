"""Classes in the API's requests and responses."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict
from backend.grading.join_code import GIVEN_MAX


class ClassRequest(Strict):
    name: str = Field(default="Class", min_length=1, max_length=60, description="What students read.")


class JoiningRequest(Strict):
    joining: bool = Field(description="Whether the code admits further students.")


class JoinRequest(Strict):
    code: str = Field(max_length=GIVEN_MAX)
    name: str = Field(max_length=240)


class JoinedOut(BaseModel):
    key: str = Field(
        description="The student's own: a bearer token, or `?key=` of any page. It is shown once."
    )
    name: str


class ClassOut(BaseModel):
    number: int = Field(description="0 before the first class.")
    name: str
    code: str
    open: bool
    joining: bool
    students: int
    began_s: float = Field(description="Unix time.")
    ended_s: float = Field(description="0 while it is open.")
    network: bool = Field(description="Whether other machines reach the control plane.")
    address: str = Field(description="Where students join.")


class HandedIn(BaseModel):
    lab: str
    passed: bool


class TileStep(BaseModel):
    id: str
    state: Literal["open", "answered", "passed", "failed"]
    answer: str = Field(description="The prediction; empty for a step that is checked.")


class TileServer(BaseModel):
    name: str
    group: str
    role: str
    process: str


class TileCluster(BaseModel):
    name: str
    protocol: str
    now_ns: int
    playing: bool
    servers: list[TileServer]
    unserved: list[str] = Field(description="Groups without a server that serves.")
    broken: list[str] = Field(description="Violated invariants.")
    trouble: str


class Tile(BaseModel):
    """One student on the wall."""

    id: str
    name: str
    away_s: int = Field(description="Seconds since the last request; 0 while a page is open.")
    absent: bool
    stuck: str = Field(description="Why, in one line; empty for who gets on.")
    passed: list[str] = Field(description="Labs.")
    verdicts: list[HandedIn]
    lab: str = Field(description="Of the attempt under way, or of the last one; empty without one.")
    phase: Literal["", "predict", "run", "over"]
    run_s: float
    steps: list[TileStep]
    cluster: TileCluster | None


class WallOut(ClassOut):
    tiles: list[Tile]


class StudentName(BaseModel):
    id: str
    name: str


class StudentOut(BaseModel):
    """What a student knows of the class."""

    class_name: str
    name: str = Field(description="Empty for the instructor.")
    passed: list[str]
    verdicts: list[HandedIn]
    cluster: str = Field(description="The cluster now, free or of a lab; empty without one.")
    free: bool = Field(description="Whether it is the free one.")
    looks_at: StudentName | None = Field(
        description="The student whose cluster the instructor asked for: it is for looking only."
    )


class ClusterName(BaseModel):
    name: str


class StudentKey(BaseModel):
    key: str = Field(description="The old key has ended.")


class VerdictRequest(Strict):
    """As the command `grade` writes it."""

    lab: str = Field(max_length=40)
    student: str = Field(max_length=240)
    seeds: str = Field(max_length=40)
    passed: bool
    seed: int = Field(ge=0, lt=1 << 32)
    invariant: str = Field(max_length=80)
    sha256: str = Field(max_length=64)
    version: str = Field(max_length=80)
    signature: str = Field(max_length=64)
