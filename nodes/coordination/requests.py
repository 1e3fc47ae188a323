"""ZooKeeper's requests and answers by their operation codes, to and from the tree's operations."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from nodes.coordination import jute
from nodes.coordination import operations as ops
from nodes.coordination.acl import DIGEST, Acl, AclEntry, identity_of
from nodes.coordination.codes import Code, OperationRefused
from nodes.coordination.jute import BadJute, JuteReader

CREATE, DELETE, EXISTS, GET_DATA, SET_DATA, GET_ACL, SET_ACL, GET_CHILDREN, SYNC = range(1, 10)
PING, GET_CHILDREN2, CHECK, MULTI, CREATE2 = range(11, 16)
AUTH, SET_WATCHES, CLOSE = 100, 101, -11
PING_XID, WATCH_XID, AUTH_XID = -2, -1, -4
MAX_MULTI = 16_384


class Connect(msgspec.Struct, frozen=True):
    """The first frame of a client."""

    zxid: int
    timeout_ms: int
    session: int
    password: bytes


def read_connect(frame: bytes) -> Connect:
    """Decodes the first frame. Old clients omit its last byte (read-only). Raises BadJute."""
    reader = JuteReader(frame)
    if reader.integer() != 0:
        raise BadJute("unknown protocol version")
    connect = Connect(reader.long(), reader.integer(), reader.long(), reader.buffer())
    if reader.left > 1:
        raise BadJute("not a connect request")
    return connect


def connect_answer(timeout_ms: int, session: int, password: bytes) -> bytes:
    """Encodes the answer; a time-out of 0 means that the session has expired."""
    body = jute.integer(0) + jute.integer(timeout_ms) + jute.long(session) + jute.buffer(password) + b"\0"
    return jute.frame(body)


def _acl(reader: JuteReader) -> Acl:
    """The list as it was sent; `resolved` checks it."""
    return tuple(AclEntry(reader.integer(), reader.string(), reader.string()) for _ in range(reader.count()))


def read_auth(reader: JuteReader) -> str:
    """The identity that a client authenticates. Raises OperationRefused for another scheme than digest."""
    reader.integer()
    if reader.string() != DIGEST:
        raise OperationRefused(Code.AUTH_FAILED)
    return identity_of(reader.buffer())


def _create(reader: JuteReader) -> ops.CreateZnode:
    path, data = reader.string(), reader.buffer()
    acl, flags = _acl(reader), reader.integer()
    if flags not in (0, 1, 2, 3):
        raise OperationRefused(Code.BAD_ARGUMENTS)
    return ops.CreateZnode(path, data, bool(flags & 1), bool(flags & 2), acl)


def _delete(reader: JuteReader) -> ops.DeleteZnode:
    return ops.DeleteZnode(reader.string(), reader.integer())


def _set(reader: JuteReader) -> ops.SetData:
    return ops.SetData(reader.string(), reader.buffer(), reader.integer())


def _check(reader: JuteReader) -> ops.CheckVersion:
    return ops.CheckVersion(reader.string(), reader.integer())


_IN_MULTI: dict[int, Callable[[JuteReader], ops.CreateZnode | ops.DeleteZnode | ops.SetData | ops.CheckVersion]] = {
    CREATE: _create, CREATE2: _create, DELETE: _delete, SET_DATA: _set, CHECK: _check,
}  # fmt: skip


def read_multi(reader: JuteReader) -> tuple[ops.Multi, list[int]]:
    """The operations and their codes, which the answer repeats."""
    found: list[ops.CreateZnode | ops.DeleteZnode | ops.SetData | ops.CheckVersion] = []
    codes: list[int] = []
    while True:
        code, done, _ = reader.integer(), reader.boolean(), reader.integer()
        if done:
            return ops.Multi(found), codes
        if code not in _IN_MULTI or len(found) >= MAX_MULTI:
            raise OperationRefused(Code.UNIMPLEMENTED)
        found.append(_IN_MULTI[code](reader))
        codes.append(code)


_READ: dict[int, Callable[[JuteReader], ops.Operation]] = {
    CREATE: _create,
    CREATE2: _create,
    DELETE: _delete,
    SET_DATA: _set,
    EXISTS: lambda r: ops.Exists(r.string(), r.boolean()),
    GET_DATA: lambda r: ops.Get(r.string(), r.boolean()),
    GET_CHILDREN: lambda r: ops.GetChildren(r.string(), r.boolean()),
    GET_CHILDREN2: lambda r: ops.GetChildren(r.string(), r.boolean()),
    GET_ACL: lambda r: ops.GetAcl(r.string()),
    SET_ACL: lambda r: ops.SetAcl(r.string(), _acl(r), r.integer()),
    SYNC: lambda r: ops.Sync(r.string()),
    SET_WATCHES: lambda r: ops.SetWatches(r.long(), r.strings(), r.strings(), r.strings()),
    CLOSE: lambda r: ops.RemoveSession(),
}


def read_operation(code: int, reader: JuteReader) -> ops.Operation:
    """Decodes an operation. Raises BadJute for invalid jute, OperationRefused for an operation that is not supported."""
    if code not in _READ:
        raise OperationRefused(Code.UNIMPLEMENTED)
    return _READ[code](reader)


def _path(result: ops.OperationResult) -> bytes:
    return jute.string(result.path)


def _stat(result: ops.OperationResult) -> bytes:
    assert result.stat is not None
    return jute.stat(result.stat)


def _names(result: ops.OperationResult) -> bytes:
    return jute.integer(len(result.children)) + b"".join(map(jute.string, result.children))


def _acl_and_stat(result: ops.OperationResult) -> bytes:
    entries = [
        jute.integer(each.permissions) + jute.string(each.scheme) + jute.string(each.identity)
        for each in result.acl
    ]
    return jute.integer(len(entries)) + b"".join(entries) + _stat(result)


_BODY: dict[int, Callable[[ops.OperationResult], bytes]] = {
    CREATE: _path,
    CREATE2: lambda result: _path(result) + _stat(result),
    SET_DATA: _stat,
    SET_ACL: _stat,
    EXISTS: _stat,
    GET_DATA: lambda result: jute.buffer(result.data) + _stat(result),
    GET_CHILDREN: _names,
    GET_CHILDREN2: lambda result: _names(result) + _stat(result),
    GET_ACL: _acl_and_stat,
    SYNC: _path,
}


def body_of(code: int, result: ops.OperationResult) -> bytes:
    """The body behind the header of a successful answer; empty for delete, check, close and set-watches."""
    encode = _BODY.get(code)
    return encode(result) if encode else b""


def multi_body(codes: list[int], result: ops.OperationResult) -> bytes:
    """The body of a multi's answer. Its header code is 0 even when it failed; then each part is an error (0: was undone)."""
    parts = []
    for code, one in zip(codes, result.results, strict=True):
        if result.code:
            parts.append(jute.integer(-1) + b"\0" + jute.integer(one.code) + jute.integer(one.code))
        else:
            parts.append(jute.integer(code) + b"\0" + jute.integer(0) + body_of(code, one))
    return b"".join(parts) + jute.integer(-1) + b"\1" + jute.integer(-1)


def watch_frame(event: ops.WatchEvent) -> bytes:
    return jute.reply(WATCH_XID, -1, 0, jute.integer(event.type) + jute.integer(3) + jute.string(event.path))
