"""`python -m backend.scenarios.schema`: the JSON Schema of scenario files, as docs/scenario.schema.json has it."""

from __future__ import annotations

import msgspec

from backend.scenarios.model import Scenario


def schema() -> bytes:
    """JSON, for editors."""
    return msgspec.json.format(msgspec.json.encode(msgspec.json.schema(Scenario)), indent=1) + b"\n"


if __name__ == "__main__":
    print(schema().decode(), end="")
