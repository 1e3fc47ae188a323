"""The secret of a container: the cluster's token, or the keys of this container alone, made from it elsewhere."""

from __future__ import annotations

from pathlib import Path

import msgspec

from nodes.wire.keys import TOKEN_BYTES, Keys, WeakToken, checked, keys_of, supervisor_key


class ContainerKeys(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a container needs in place of the token."""

    supervisor: bytes
    """By which the control plane and this supervisor authenticate each other."""
    process: Keys = Keys()
    """Keys of the process that it starts."""

    def of_process(self, serves: bool) -> Keys:
        """The keys of a server, node or client. Raises WeakToken when this container may not start one."""
        if not self.process.client or (serves and not self.process.peer):
            raise WeakToken(f"this container has no keys of a {'server' if serves else 'client'}")
        return self.process if serves else Keys(client=self.process.client)


def container_keys(token: bytes, container: str, process: Keys) -> ContainerKeys:
    """Raises WeakToken."""
    return ContainerKeys(supervisor_key(token, container), process)


def read_secret(file: Path, container: str) -> ContainerKeys:
    """The keys in a file that `python -m backend.containers keys` wrote, or those that follow from the token. Raises WeakToken, OSError."""
    content = file.read_bytes().strip()
    if not content.startswith(b"{"):
        try:
            token = checked(content)
        except WeakToken as weak:
            raise WeakToken(f"{file}: {weak}") from None
        return container_keys(token, container, keys_of(token, serves=True))
    try:
        keys = msgspec.json.decode(content, type=ContainerKeys)
    except msgspec.DecodeError as error:
        raise WeakToken(f"{file} has no keys of a container: {error}") from None
    if len(keys.supervisor) < TOKEN_BYTES:
        raise WeakToken(f"{file} has no whole key of a supervisor")
    return keys
