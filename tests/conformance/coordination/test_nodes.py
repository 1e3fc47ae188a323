"""Nodes: effects, refusals and the resulting Stat of each operation."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from kazoo import exceptions as errors
from kazoo.client import KazooClient
from kazoo.protocol.serialization import Create, Delete, GetData, SetData
from kazoo.security import ACL, OPEN_ACL_UNSAFE, READ_ACL_UNSAFE, Id


def test_a_created_node_has_its_data_and_a_fresh_stat(client: KazooClient, root: str) -> None:
    assert client.create(f"{root}/a", b"one") == f"{root}/a"
    data, stat = client.get(f"{root}/a")
    assert data == b"one"
    assert (stat.version, stat.cversion, stat.aversion, stat.ephemeralOwner) == (0, 0, 0, 0)
    assert (stat.dataLength, stat.numChildren) == (3, 0)
    assert stat.czxid == stat.mzxid == stat.pzxid and stat.ctime == stat.mtime


def test_create2_answers_with_the_stat(client: KazooClient, root: str) -> None:
    path, stat = client.create(f"{root}/a", b"xy", include_data=True)
    assert path == f"{root}/a" and stat == client.exists(path)


def test_each_change_has_a_larger_zxid(client: KazooClient, root: str) -> None:
    client.create(f"{root}/a")
    first = client.exists(f"{root}/a").czxid
    client.set(f"{root}/a", b"x")
    second = client.exists(f"{root}/a").mzxid
    client.create(f"{root}/b")
    third = client.exists(f"{root}/b").czxid
    assert first < second < third
    assert client.exists(root).pzxid == third


def test_set_counts_versions_and_checks_them(client: KazooClient, root: str) -> None:
    assert client.set(root, b"1").version == 1
    assert client.set(root, b"2", version=1).version == 2
    with pytest.raises(errors.BadVersionError):
        client.set(root, b"3", version=1)
    assert client.get(root)[0] == b"2"


def test_delete_checks_version_and_children(client: KazooClient, root: str) -> None:
    client.create(f"{root}/a")
    with pytest.raises(errors.NotEmptyError):
        client.delete(root)
    with pytest.raises(errors.BadVersionError):
        client.delete(f"{root}/a", version=7)
    client.delete(f"{root}/a", version=0)
    assert client.exists(f"{root}/a") is None
    with pytest.raises(errors.NoNodeError):
        client.delete(f"{root}/a")


def test_cversion_counts_creations_and_removals_of_children(client: KazooClient, root: str) -> None:
    client.create(f"{root}/a")
    client.create(f"{root}/b")
    client.delete(f"{root}/a")
    stat = client.exists(root)
    assert (stat.cversion, stat.numChildren, stat.version) == (3, 1, 0)


def test_removing_a_child_moves_pzxid_and_nothing_else(client: KazooClient, root: str) -> None:
    client.create(f"{root}/a")
    before = client.exists(root)
    client.delete(f"{root}/a")
    after = client.exists(root)
    assert after.pzxid > before.pzxid and after.mzxid == before.mzxid and after.version == before.version


def test_children_are_the_names(client: KazooClient, root: str) -> None:
    for name in ("b", "a", "c"):
        client.create(f"{root}/{name}")
    names, stat = client.get_children(root, include_data=True)
    assert sorted(names) == ["a", "b", "c"] and stat.numChildren == 3
    assert sorted(client.get_children(root)) == ["a", "b", "c"]


@pytest.mark.parametrize("act", ["get", "get_children", "get_acls"])
def test_reading_a_missing_node_is_refused(client: KazooClient, root: str, act: str) -> None:
    with pytest.raises(errors.NoNodeError):
        getattr(client, act)(f"{root}/none")


def test_create_needs_the_parent_and_no_namesake(client: KazooClient, root: str) -> None:
    with pytest.raises(errors.NoNodeError):
        client.create(f"{root}/none/a")
    with pytest.raises(errors.NodeExistsError):
        client.create(root)
    with pytest.raises(errors.NodeExistsError):
        client.create("/")


def test_ephemeral_nodes_have_an_owner_and_no_children(client: KazooClient, root: str) -> None:
    client.create(f"{root}/e", ephemeral=True)
    assert client.exists(f"{root}/e").ephemeralOwner == client.client_id[0]
    with pytest.raises(errors.NoChildrenForEphemeralsError):
        client.create(f"{root}/e/child")


def test_sequential_names_count_creations_of_every_kind(client: KazooClient, root: str) -> None:
    assert client.create(f"{root}/n-", sequence=True) == f"{root}/n-0000000000"
    client.create(f"{root}/plain")
    client.delete(f"{root}/plain")
    assert client.create(f"{root}/m-", sequence=True, ephemeral=True) == f"{root}/m-0000000002"
    assert client.create(f"{root}/", sequence=True) == f"{root}/0000000003"


@pytest.mark.parametrize("name", ["/a//b", "/a/", "/../x", "/./x", "/a\x01b", "/a\ue000"])
def test_a_malformed_path_is_refused(client: KazooClient, root: str, name: str) -> None:
    with pytest.raises((errors.BadArgumentsError, errors.NoNodeError)):
        _create_raw(client, root + name, OPEN_ACL_UNSAFE)


def _create_raw(client: KazooClient, path: str, acl: list[ACL]) -> None:
    _raw(client, Create(path, b"", acl, 0))


def _raw(client: KazooClient, request: object) -> None:
    """Sends a request past kazoo's own checks of paths and lists."""
    answer = client.handler.async_result()
    client._call(request, answer)
    answer.get(timeout=10)


def test_which_operations_look_at_the_path_first(client: KazooClient, root: str) -> None:
    with pytest.raises(errors.BadArgumentsError):
        _raw(client, SetData(f"{root}//a", b"", -1))
    for request in (Delete(f"{root}//a", -1), GetData(f"{root}//a", False)):
        with pytest.raises(errors.NoNodeError):
            _raw(client, request)


def test_permissions_are_kept_versioned_and_obeyed(client: KazooClient, root: str) -> None:
    client.create(f"{root}/a", acl=READ_ACL_UNSAFE)
    acls, stat = client.get_acls(f"{root}/a")
    assert acls == READ_ACL_UNSAFE and stat.aversion == 0
    for act in (lambda: client.set(f"{root}/a", b"x"), lambda: client.create(f"{root}/a/b")):
        with pytest.raises(errors.NoAuthError):
            act()
    assert client.set_acls(root, OPEN_ACL_UNSAFE, version=0).aversion == 1
    with pytest.raises(errors.BadVersionError):
        client.set_acls(root, OPEN_ACL_UNSAFE, version=0)


def test_an_unknown_identity_or_an_empty_list_is_an_invalid_acl(client: KazooClient, root: str) -> None:
    for acl in ([ACL(31, Id("nobody", "x"))], []):
        with pytest.raises(errors.InvalidACLError):
            _create_raw(client, f"{root}/x", acl)


def test_the_root_cannot_be_removed(client: KazooClient) -> None:
    with pytest.raises(errors.BadArgumentsError):
        client.delete("/")


def test_a_multi_happens_whole_under_one_zxid(client: KazooClient, root: str) -> None:
    client.create(f"{root}/gone")
    several = client.transaction()
    several.create(f"{root}/a", b"1")
    several.set_data(f"{root}/a", b"2", version=0)
    several.check(f"{root}/a", version=1)
    several.delete(f"{root}/gone")
    several.create(f"{root}/a/b")
    results = several.commit()
    assert [results[0], results[1].version, *results[2:]] == [f"{root}/a", 1, True, True, f"{root}/a/b"]
    assert client.exists(f"{root}/a").mzxid == client.exists(f"{root}/a/b").czxid == client.exists(root).pzxid
    assert client.exists(f"{root}/gone") is None


def test_a_failed_multi_leaves_nothing_and_says_which_part(client: KazooClient, root: str) -> None:
    client.create(f"{root}/kept", b"old")
    before = client.exists(root), client.get(f"{root}/kept")
    several = client.transaction()
    several.create(f"{root}/a")
    several.set_data(f"{root}/kept", b"new")
    several.delete(f"{root}/none")
    several.create(f"{root}/b")
    kinds = [type(result) for result in several.commit()]
    rolled_back = errors.RolledBackError
    assert kinds == [rolled_back, rolled_back, errors.NoNodeError, errors.RuntimeInconsistency]
    assert before == (client.exists(root), client.get(f"{root}/kept"))
    assert client.get_children(root) == ["kept"]


def test_a_multi_that_checks_an_old_version_changes_nothing(client: KazooClient, root: str) -> None:
    several = client.transaction()
    several.check(root, version=5)
    several.create(f"{root}/a")
    kinds = [type(result) for result in several.commit()]
    assert kinds == [errors.BadVersionError, errors.RuntimeInconsistency]
    assert client.get_children(root) == []


def test_a_sequential_number_is_given_again_after_a_failed_multi(client: KazooClient, root: str) -> None:
    several = client.transaction()
    several.create(f"{root}/n-", sequence=True)
    several.delete(f"{root}/none")
    several.commit()
    assert client.create(f"{root}/n-", sequence=True) == f"{root}/n-0000000000"


def test_a_large_node_travels_whole(client: KazooClient, root: str) -> None:
    data = bytes(range(256)) * 2_000
    client.create(f"{root}/large", data)
    assert client.get(f"{root}/large")[0] == data


def test_sync_answers_with_the_path(client: KazooClient, root: str) -> None:
    assert client.sync(root) == root


def test_what_one_client_wrote_another_reads(connect: Callable[..., KazooClient], root: str) -> None:
    one, other = connect(), connect()
    one.create(f"{root}/a", b"x")
    other.sync(root)
    assert other.get(f"{root}/a")[0] == b"x"


def test_a_failed_multi_undoes_several_changes_of_one_node_in_reverse(client: KazooClient, root: str) -> None:
    client.create(f"{root}/a", b"old")
    before = client.exists(root), client.get(f"{root}/a")
    several = client.transaction()
    several.set_data(f"{root}/a", b"1")
    several.set_data(f"{root}/a", b"2")
    several.delete(f"{root}/a")
    several.create(f"{root}/a", b"3", ephemeral=True)
    several.create(f"{root}/b")
    several.create(f"{root}/b/c")
    several.delete(f"{root}/b/c")
    several.check(f"{root}/none", version=0)
    assert isinstance(several.commit()[-1], errors.NoNodeError)
    assert before == (client.exists(root), client.get(f"{root}/a"))
    assert client.get_children(root) == ["a"]
