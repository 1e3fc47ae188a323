"""File system calls through the control plane's smart client."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from backend.clusters.models import Strict

PATH_CHARACTERS = 8192


class FsRequest(Strict):
    do: Literal["ls", "mkdir", "create", "mv", "rm", "stat"]
    path: str = Field(max_length=PATH_CHARACTERS)
    to: str | None = Field(default=None, max_length=PATH_CHARACTERS, description="mv: the new path.")
    parents: bool = Field(default=False, description="mkdir: make missing parents too.")
    recursive: bool = Field(default=False, description="rm: a directory with all in it.")
    overwrite: bool = Field(default=False, description="mv: replace what is there.")
    after: str = Field(default="", max_length=PATH_CHARACTERS, description="ls: names after this one.")
    limit: int = Field(default=1000, ge=1, le=1000)


class FsAnswer(BaseModel):
    result: Any = Field(description="What the operation returns, by field name.")
    server: str
    epoch: int
    sn: int


class Written(BaseModel):
    octets: int = Field(description="How many were written.")
