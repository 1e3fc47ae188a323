from typing import Any


async def call(lab: Any, request: Any) -> dict[str, Any]:
    raise NotImplementedError
