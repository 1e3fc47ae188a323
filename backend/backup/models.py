"""What an import has created."""

from __future__ import annotations

from pydantic import BaseModel, Field


class Imported(BaseModel):
    directories: int = Field(description="Directories of the backup, its root included.")
    files: int
    names: int = Field(description="Further names of files (hard links).")
    size: int = Field(description="Bytes of content.")
