"""Clients of coordination that authenticate with the password of the cluster, and whose nodes belong to the cluster alone."""

from __future__ import annotations

from typing import Any

from kazoo.client import KazooClient
from kazoo.security import make_digest_acl

from nodes.wire.keys import COORDINATION_USER


def authenticated(hosts: str, password: str, **options: Any) -> KazooClient:
    """A client that is not connected yet. Each node that it creates may be read and changed with this password only."""
    return KazooClient(
        hosts=hosts,
        auth_data=[("digest", f"{COORDINATION_USER}:{password}")],
        default_acl=[make_digest_acl(COORDINATION_USER, password, all=True)],
        **options,
    )
