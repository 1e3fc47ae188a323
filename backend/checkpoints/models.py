"""Checkpoints of the whole cluster as the API tells them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict

NAME_CHARACTERS = 63


class BarrierOut(BaseModel):
    sn: int
    epoch: int
    digest: str = Field(description="Of the group's namespace at the barrier, in hexadecimal.")


class CheckpointOut(BaseModel):
    name: str
    number: int = Field(description="Counts checkpoints, from 1.")
    state: Literal["complete", "void", "aside"] = Field(
        description="Only a complete one can be recovered to; aside: a recovery went back to before it."
    )
    incarnation: int
    time_server: str
    stamp_ns: int = Field(description="The average of the groups' system times, in ns since 1970.")
    barriers: dict[str, BarrierOut] = Field(description="By group.")


class Checkpoints(BaseModel):
    checkpoints: list[CheckpointOut]
    incarnation: int = Field(description="How often the cluster has been taken back.")
    recovered_to: str = Field(description="The checkpoint of the last recovery; empty when there was none.")


class MarkRequest(Strict):
    name: str = Field(max_length=NAME_CHARACTERS)


class SetAside(BaseModel):
    name: str
    groups: int = Field(description="Journal groups behind the barriers, of all replica groups.")
    operations: int = Field(description="Operations of clients in them.")


class Deleted(BaseModel):
    deleted: str = Field(description="The name, which may be given again.")


class RecoverRequest(Strict):
    name: str = Field(max_length=NAME_CHARACTERS)
    confirmed: bool = Field(default=False, description="Without it the answer only says what is set aside.")


class Recovering(SetAside):
    incarnation: int


class PartOut(BaseModel):
    """One group's part in a marking: when each step was reached, 0 when it was not."""

    drain_ns: int
    drained_ns: int
    written_ns: int
    resumed_ns: int
    sn: int = Field(description="Of the barrier.")


class MarkingOut(BaseModel):
    name: str
    time_server: str
    began_ns: int
    ended_ns: int = Field(description="0 while it is not decided.")
    outcome: Literal["", "complete", "void"]
    reason: str = Field(description="Why a void one is void, as far as servers told.")
    groups: dict[str, PartOut]


class AsideOut(BaseModel):
    """What one server has set aside."""

    group: str
    groups: int
    operations: int
    sn: int = Field(description="Of the barrier; 0 when this server did not have it.")
    at_ns: int


class BlocksOut(BaseModel):
    """What one data node has set aside, of all groups."""

    blocks: int
    octets: int


class RecoveryOut(BaseModel):
    incarnation: int
    checkpoint: str
    servers: dict[str, AsideOut]
    data_nodes: dict[str, BlocksOut] = Field(description="Those that have gone back.")


class Story(BaseModel):
    markings: list[MarkingOut]
    recoveries: list[RecoveryOut]
