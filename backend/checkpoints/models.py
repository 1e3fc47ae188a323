"""Checkpoints of the whole cluster in the API's responses."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from backend.checkpoints.story import CheckpointStory
from backend.clusters.models import Strict
from backend.served_models import served_as

NAME_CHARACTERS = 63
StoryOut = served_as(CheckpointStory)


class BarrierAt(BaseModel):
    sn: int
    epoch: int
    digest: str = Field(description="Digest of the group's namespace at the barrier, in hexadecimal.")


class CheckpointOut(BaseModel):
    name: str
    number: int = Field(description="Number of the checkpoint, from 1.")
    state: Literal["complete", "void", "aside"] = Field(
        description="Only a complete checkpoint can be recovered; aside: a recovery rolled back to before it."
    )
    incarnation: int
    time_server: str
    stamp_ns: int = Field(description="The average of the groups' system times, in ns since 1970.")
    barriers: dict[str, BarrierAt] = Field(description="By group.")


class Checkpoints(BaseModel):
    checkpoints: list[CheckpointOut]
    incarnation: int = Field(description="Number of recoveries of the cluster.")
    recovered_to: str = Field(description="The checkpoint of the last recovery; empty when there was none.")


class MarkRequest(Strict):
    name: str = Field(max_length=NAME_CHARACTERS)


class Behind(BaseModel):
    name: str
    groups: int = Field(description="Journal groups after the barriers, of all replica groups.")
    operations: int = Field(description="Client operations in these journal groups.")


class Deleted(BaseModel):
    deleted: str = Field(description="The name, which a new checkpoint may use again.")


class RecoverRequest(Strict):
    name: str = Field(max_length=NAME_CHARACTERS)
    confirmed: bool = Field(
        default=False,
        description="Without it the request is refused, and the error says how many operations a recovery sets aside.",
    )


class Recovering(Behind):
    incarnation: int
