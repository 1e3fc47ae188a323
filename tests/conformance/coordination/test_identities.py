"""Digest authentication and access control lists, against the embedded server and ZooKeeper."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kazoo import exceptions as errors
from kazoo.client import KazooClient
from kazoo.security import (
    CREATOR_ALL_ACL,
    OPEN_ACL_UNSAFE,
    make_acl,
    make_digest_acl,
    make_digest_acl_credential,
)

Connect = Callable[..., KazooClient]


def test_a_node_with_an_owner_is_closed_to_all_others(connect: Connect, root: str) -> None:
    owner, other = connect(), connect()
    path = f"{root}/owned"
    owner.add_auth("digest", "ada:secret")
    owner.create(path, b"mine", acl=[make_digest_acl("ada", "secret", all=True)])
    owner.create(f"{path}/child", acl=CREATOR_ALL_ACL)
    assert owner.get_acls(f"{path}/child")[0] == owner.get_acls(path)[0]
    for _ in range(2):
        for call in (
            lambda: other.get(path),
            lambda: other.get_children(path),
            lambda: other.set(path, b"yours"),
            lambda: other.create(f"{path}/another"),
            lambda: other.delete(f"{path}/child"),
            lambda: other.set_acls(path, OPEN_ACL_UNSAFE),
        ):
            with pytest.raises(errors.NoAuthError):
                call()
        other.add_auth("digest", "ada:guess")
    assert owner.get(path)[0] == b"mine" and other.exists(path) is not None


def test_a_part_of_a_multi_without_the_right_changes_nothing(connect: Connect, root: str) -> None:
    owner, other = connect(), connect()
    owner.add_auth("digest", "ada:secret")
    owner.create(f"{root}/owned", b"mine", acl=[make_digest_acl("ada", "secret", all=True)])
    transaction = other.transaction()
    transaction.create(f"{root}/free")
    transaction.set_data(f"{root}/owned", b"yours")
    results = transaction.commit()
    assert isinstance(results[1], errors.NoAuthError) and other.exists(f"{root}/free") is None


def test_a_list_has_entries_for_several(connect: Connect, root: str) -> None:
    writer, reader = connect(), connect()
    acl = [
        make_digest_acl("ada", "secret", all=True),
        make_acl("digest", make_digest_acl_credential("eve", "word"), read=True),
    ]
    writer.create(f"{root}/shared", b"both", acl=acl)
    reader.add_auth("digest", "eve:word")
    assert reader.get(f"{root}/shared")[0] == b"both"
    assert [each.id.id for each in reader.get_acls(f"{root}/shared")[0]] == ["ada:x", "eve:x"]
    with pytest.raises(errors.NoAuthError):
        reader.set(f"{root}/shared", b"mine")
    writer.add_auth("digest", "ada:secret")
    assert writer.get_acls(f"{root}/shared")[0] == acl
    writer.set(f"{root}/shared", b"changed")
    writer.set_acls(f"{root}/shared", OPEN_ACL_UNSAFE)
    assert connect().get(f"{root}/shared")[0] == b"changed"


def test_without_an_identity_there_is_no_list_of_the_creator(client: KazooClient, root: str) -> None:
    with pytest.raises(errors.InvalidACLError):
        client.create(f"{root}/mine", acl=CREATOR_ALL_ACL)
