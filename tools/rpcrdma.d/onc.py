# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""ONC RPC in front of NFS: direction, program, procedure, and the operations of a COMPOUND."""
import typing

from header import Reader, Short

CALL, REPLY = 0, 1
NFS, NFSACL = 100003, 100227
_RPCSEC_GSS, _INTEGRITY, _PRIVACY = 6, 2, 3
# Programs that a client chooses for the server's calls
_TRANSIENT = range(0x40000000, 0x60000000)
_COMPOUND, _MOST = 1, 64

_V3 = ("NULL GETATTR SETATTR LOOKUP ACCESS READLINK READ WRITE CREATE MKDIR SYMLINK MKNOD REMOVE "
       "RMDIR RENAME LINK READDIR READDIRPLUS FSSTAT FSINFO PATHCONF COMMIT").split()
_ACL = "NULL GETACL SETACL".split()

# What each operation of NFSv4 has for arguments. u: a word; q: two; s: a stateid; v: eight
# octets; i: a session; o: an opaque; b: a bitmap; n: attributes. What stands behind "?" is read
# by a function below. Of what is not here, the operations that follow are not known.
_V4 = {
    3: ("ACCESS", "u"), 4: ("CLOSE", "us"), 5: ("COMMIT", "qu"), 6: ("CREATE", "?create"),
    7: ("DELEGPURGE", "q"), 8: ("DELEGRETURN", "s"), 9: ("GETATTR", "b"), 10: ("GETFH", ""),
    11: ("LINK", "o"), 12: ("LOCK", "?lock"), 13: ("LOCKT", "uqqqo"), 14: ("LOCKU", "uusqq"),
    15: ("LOOKUP", "o"), 16: ("LOOKUPP", ""), 17: ("NVERIFY", "n"), 18: ("OPEN", "?open"),
    19: ("OPENATTR", "u"), 20: ("OPEN_CONFIRM", "su"), 21: ("OPEN_DOWNGRADE", "suuu"),
    22: ("PUTFH", "o"), 23: ("PUTPUBFH", ""), 24: ("PUTROOTFH", ""), 25: ("READ", "squ"),
    26: ("READDIR", "qvuub"), 27: ("READLINK", ""), 28: ("REMOVE", "o"), 29: ("RENAME", "oo"),
    30: ("RENEW", "q"), 31: ("RESTOREFH", ""), 32: ("SAVEFH", ""), 33: ("SECINFO", "o"),
    34: ("SETATTR", "sn"), 35: ("SETCLIENTID", "vouoou"), 36: ("SETCLIENTID_CONFIRM", "qv"),
    37: ("VERIFY", "n"), 38: ("WRITE", "squo"), 39: ("RELEASE_LOCKOWNER", "qo"),
    40: ("BACKCHANNEL_CTL", None), 41: ("BIND_CONN_TO_SESSION", "iuu"),
    42: ("EXCHANGE_ID", None), 43: ("CREATE_SESSION", None), 44: ("DESTROY_SESSION", "i"),
    45: ("FREE_STATEID", "s"), 46: ("GET_DIR_DELEGATION", None), 47: ("GETDEVICEINFO", None),
    48: ("GETDEVICELIST", None), 49: ("LAYOUTCOMMIT", None), 50: ("LAYOUTGET", None),
    51: ("LAYOUTRETURN", None), 52: ("SECINFO_NO_NAME", "u"), 53: ("SEQUENCE", "iuuuu"),
    54: ("SET_SSV", None), 55: ("TEST_STATEID", None), 56: ("WANT_DELEGATION", None),
    57: ("DESTROY_CLIENTID", "q"), 58: ("RECLAIM_COMPLETE", "u"), 59: ("ALLOCATE", "sqq"),
    60: ("COPY", None), 61: ("COPY_NOTIFY", None), 62: ("DEALLOCATE", "sqq"),
    63: ("IO_ADVISE", "sqqb"), 64: ("LAYOUTERROR", None), 65: ("LAYOUTSTATS", None),
    66: ("OFFLOAD_CANCEL", "s"), 67: ("OFFLOAD_STATUS", "s"), 68: ("READ_PLUS", "squ"),
    69: ("SEEK", "squ"), 70: ("WRITE_SAME", None), 71: ("CLONE", "ssqqq"),
    72: ("GETXATTR", "o"), 73: ("SETXATTR", "uoo"), 74: ("LISTXATTRS", "qu"),
    75: ("REMOVEXATTR", "o"),
}
_BACK = {
    3: ("CB_GETATTR", "ob"), 4: ("CB_RECALL", "suo"), 5: ("CB_LAYOUTRECALL", None),
    6: ("CB_NOTIFY", None), 7: ("CB_PUSH_DELEG", None), 8: ("CB_RECALL_ANY", "ub"),
    9: ("CB_RECALLABLE_OBJ_AVAIL", "u"), 10: ("CB_RECALL_SLOT", "u"),
    11: ("CB_SEQUENCE", "?sequence"), 12: ("CB_WANTS_CANCELLED", "uu"),
    13: ("CB_NOTIFY_LOCK", "oqo"), 14: ("CB_NOTIFY_DEVICEID", None), 15: ("CB_OFFLOAD", None),
}
# Those that are in every COMPOUND; the others say what it is for.
_FRAME = {"SEQUENCE", "PUTFH", "PUTROOTFH", "GETFH", "SAVEFH", "RESTOREFH", "CB_SEQUENCE"}
_STATUS = {0: "OK", 1: "PERM", 2: "NOENT", 5: "IO", 6: "NXIO", 13: "ACCESS", 17: "EXIST",
           18: "XDEV", 20: "NOTDIR", 21: "ISDIR", 22: "INVAL", 27: "FBIG", 28: "NOSPC",
           30: "ROFS", 63: "NAMETOOLONG", 66: "NOTEMPTY", 69: "DQUOT", 70: "STALE",
           10003: "BAD_COOKIE", 10004: "NOTSUPP", 10005: "TOOSMALL", 10008: "DELAY",
           10010: "DENIED", 10011: "EXPIRED", 10012: "LOCKED", 10013: "GRACE",
           10022: "STALE_CLIENTID", 10023: "STALE_STATEID", 10024: "OLD_STATEID",
           10025: "BAD_STATEID", 10032: "ATTRNOTSUPP", 10036: "BADXDR", 10052: "BADSESSION",
           10053: "BADSLOT", 10063: "SEQ_MISORDERED", 10078: "DEADSESSION", 10087: "DELEG_REVOKED",
           10095: "NOXATTR"}
_REFUSED = {1: "PROG_UNAVAIL", 2: "PROG_MISMATCH", 3: "PROC_UNAVAIL", 4: "GARBAGE_ARGS",
            5: "SYSTEM_ERR"}


class Rpc(typing.NamedTuple):
    """
    @xid, @direction: of the RPC message
    @program: None of a reply
    @title: NFS, its version and what is called; @operations: all of them
    @status: of a reply
    """
    xid: int
    direction: int
    program: typing.Optional[int] = None
    title: str = ""
    operations: tuple = ()
    status: str = ""
    is_nfs: bool = False


class _Arguments(Reader):
    """A payload without the items that were left out: Positions count in the payload as it was with them."""

    def __init__(self, data, chunks):
        super().__init__(data)
        self.moved = 0
        self.chunks = chunks

    def opaque(self):
        size = self.word()
        position = self.at + self.moved
        if position in self.chunks:
            self.moved += (size + 3) & ~3
        else:
            self.skip((size + 3) & ~3)

    def skip(self, size):
        if size > len(self.data) - self.at:
            raise Short
        self.at += size

    def walk(self, form):
        for kind in form:
            if kind == "o":
                self.opaque()
            elif kind == "b":
                self.skip(4 * self.word())
            elif kind == "n":
                self.skip(4 * self.word())
                self.opaque()
            else:
                self.skip({"u": 4, "q": 8, "s": 16, "v": 8, "i": 16}[kind])


def _create(args):
    kind = args.word()
    args.walk({5: "o", 3: "uu", 4: "uu"}.get(kind, "") + "on")


def _lock(args):
    args.walk("uuqq")
    args.walk("usuqo" if args.word() else "su")


def _open(args):
    args.walk("uuuqo")
    if args.word() == 1:
        args.walk({0: "n", 1: "n", 2: "v", 3: "vn"}[args.word()])
    args.walk({0: "o", 1: "u", 2: "so", 3: "o", 4: "", 5: "s", 6: ""}[args.word()])


def _sequence(args):
    args.walk("iuuuu")
    for _ in range(args.word()):
        args.walk("i")
        args.skip(8 * args.word())


_FUNCTIONS = {"create": _create, "lock": _lock, "open": _open, "sequence": _sequence}


def _compound(args, table):
    """Returns (minor version, names of operations), as far as the arguments are known."""
    args.opaque()
    minor = args.word()
    if table is _BACK:
        args.word()
    names, count = [], args.word()
    try:
        for _ in range(min(count, _MOST)):
            code = args.word()
            name, form = table.get(code, (f"operation {code}", None))
            names.append(name)
            if form is None:
                break
            if form.startswith("?"):
                _FUNCTIONS[form[1:]](args)
            else:
                args.walk(form)
    except (Short, KeyError):
        pass
    if len(names) < count:
        names.append("...")
    return minor, tuple(names)


def _protection(args, flavor, length):
    """Returns how an RPCSEC_GSS credential protects the arguments."""
    if flavor != _RPCSEC_GSS or length < 16:
        return ""
    _, procedure, _, service = Reader(args.data, args.at).take(">IIII")
    if procedure:
        return " (RPCSEC_GSS context)"
    return {_INTEGRITY: " (krb5i)", _PRIVACY: " (krb5p)"}.get(service, "")


def _nfs4(args, program, protected):
    back = program != NFS
    if protected:
        return ("NFSv4 callback" if back else "NFSv4") + " COMPOUND" + protected, ()
    minor, names = _compound(args, _BACK if back else _V4)
    main = [n for n in names if n not in _FRAME] or list(names[-1:])
    return f"NFSv4.{minor}{' callback' * back} {' '.join(main)}", names


def _call(xid, args):
    _, program, version, procedure = args.take(">IIII")
    flavor, length = args.take(">II")
    protected = _protection(args, flavor, length)
    args.skip((length + 3) & ~3)
    args.word()
    args.opaque()
    names, is_nfs = (), program in (NFS, NFSACL) or program in _TRANSIENT
    if procedure == 0 and is_nfs:
        name = {NFS: f"NFSv{version}", NFSACL: "NFSACL"}.get(program, "NFSv4 callback")
        title = f"{name} NULL{protected}"
    elif program in _TRANSIENT or (program == NFS and version == 4):
        title, names = _nfs4(args, program, protected)
    elif program == NFS and version == 3 and procedure < len(_V3):
        title = f"NFSv3 {_V3[procedure]}{protected}"
    elif program == NFSACL and version == 3 and procedure < len(_ACL):
        title = f"NFSACL {_ACL[procedure]}{protected}"
    else:
        title = f"program {program} version {version} procedure {procedure}"
    return Rpc(xid, CALL, program, title, names, is_nfs=is_nfs)


def _reply(xid, args, title):
    if args.word():
        return Rpc(xid, REPLY, status="denied")
    args.word()
    args.opaque()
    accepted = args.word()
    if accepted:
        return Rpc(xid, REPLY, status=_REFUSED.get(accepted, f"accept_stat {accepted}"))
    if not title.startswith("NFSv") or "NULL" in title or "krb5" in title or "GSS" in title:
        return Rpc(xid, REPLY, status="OK")
    status = args.word()
    prefix = "NFS3" if title.startswith("NFSv3") else "NFS4"
    word = _STATUS.get(status, str(status))
    return Rpc(xid, REPLY, status=f"{prefix}_OK" if status == 0 else f"{prefix}ERR_{word}")


def decode(payload, chunks=(), title=""):
    """Returns the RPC message, or None if the payload is none. @chunks: Positions of Read chunks; @title: that
    of the call, if this may be its reply."""
    args = _Arguments(payload, chunks)
    try:
        xid, direction = args.take(">II")
    except Short:
        return None
    try:
        if direction == CALL:
            return _call(xid, args)
        if direction == REPLY:
            return _reply(xid, args, title)
    except Short:
        pass
    return Rpc(xid, direction)
