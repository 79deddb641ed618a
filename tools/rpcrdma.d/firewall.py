# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
"""What nftables does to a packet, as far as its rules can be understood without one."""
import json
import typing

import host

ACCEPT, DROP, UNKNOWN = "accept", "drop", "unknown"


class Packet(typing.NamedTuple):
    """A packet that the rules are asked about. @netdev: the interface that it goes through; @family: ip or ip6."""
    hook: str
    protocol: str
    port: int
    netdev: str
    family: str


class Verdict(typing.NamedTuple):
    """What a rule does with a packet. @where: table and chain, as nft takes them."""
    what: str
    where: str


def _among(value, right):
    """Says whether @right has the value, or returns None if that cannot be told."""
    if isinstance(right, dict) and "set" in right:
        found = [_among(value, one) for one in right["set"]]
        return True if True in found else None if None in found else False
    if isinstance(right, dict) and "range" in right:
        low, high = right["range"]
        return low <= value <= high if isinstance(low, int) and isinstance(value, int) else None
    if isinstance(right, list):
        return _among(value, {"set": right})
    if isinstance(right, str) and (right.startswith("@") or isinstance(value, int)):
        return None
    return value == right if isinstance(right, (int, str)) else None


def _field(left, packet):
    """Returns the value of this field of the packet, or None if it is not known."""
    payload, meta = left.get("payload", {}), left.get("meta", {})
    if payload.get("field") == "dport":
        return packet.port if payload.get("protocol") in (packet.protocol, "th") else False
    if payload.get("protocol") in ("tcp", "udp") and payload["protocol"] != packet.protocol:
        return False
    key = meta.get("key")
    if key and key.removesuffix("name")[1:] == "if":
        mine = {"input": "i", "output": "o"}[packet.hook]
        return packet.netdev if key.startswith(mine) else ""
    family = {"ip": "ipv4", "ip6": "ipv6"}[packet.family]
    own = {"l4proto": packet.protocol, "nfproto": family, "protocol": packet.family}
    if payload.get("field") in ("protocol", "nexthdr"):
        return packet.protocol
    # What comes first on a flow: nothing answers it yet.
    return "new" if left.get("ct", {}).get("key") == "state" else own.get(key)


def _matches(rule, packet):
    """Says whether the rule matches: True, False, or None where it cannot be told."""
    known = True
    for part in rule.get("expr", ()):
        match = part.get("match")
        if match is None:
            known = None if {"limit", "vmap", "xt"} & set(part) else known
            continue
        value = _field(match["left"], packet) if isinstance(match.get("left"), dict) else None
        one = value if value in (False, None) else _among(value, match.get("right"))
        if match.get("op") == "!=" and one is not None and value is not False:
            one = not one
        if one is False:
            return False
        known = None if one is None else known
    return known


class Ruleset:
    """The rules that "nft -j list ruleset" prints."""

    def __init__(self, text):
        found = json.loads(text)["nftables"]
        self.chains = [one["chain"] for one in found if "chain" in one]
        self.rules = {}
        for rule in (one["rule"] for one in found if "rule" in one):
            self.rules.setdefault(self._key(rule, rule["chain"]), []).append(rule)

    @staticmethod
    def _key(thing, name):
        return thing["family"], thing["table"], name

    def _walk(self, key, packet, depth=0):
        """Returns the verdict of a chain, or None at its end."""
        for rule in self.rules.get(key, ()) if depth < 16 else ():
            matches = _matches(rule, packet)
            verdict = self._verdict(rule, key, packet, depth) if matches is not False else None
            if verdict == "return":
                return None
            if verdict is None:
                continue
            if matches or verdict.what != DROP:
                return verdict if matches else Verdict(UNKNOWN, verdict.where)
        return None

    def _verdict(self, rule, key, packet, depth):
        where = " ".join(key)
        for part in rule.get("expr", ()):
            if "accept" in part:
                return Verdict(ACCEPT, where)
            if "drop" in part or "reject" in part:
                return Verdict(DROP, where)
            if "return" in part:
                return "return"
            for jump in ("jump", "goto"):
                if jump in part:
                    return self._walk((*key[:2], part[jump]["target"]), packet, depth + 1)
            if "vmap" in part or "queue" in part:
                return Verdict(UNKNOWN, where)
        return None

    def dropped(self, packet):
        """Returns the place where the packet is dropped, or None."""
        for chain in self.chains:
            if chain.get("hook") != packet.hook or chain.get("type") != "filter" or \
                    chain["family"] not in ("inet", packet.family):
                continue
            key = self._key(chain, chain["name"])
            verdict = self._walk(key, packet) or Verdict(chain.get("policy", ACCEPT), " ".join(key))
            if verdict.what == DROP:
                return verdict.where
        return None


def ruleset():
    """Returns the rules, or None if nft is not there, or fails."""
    said = host.run("nft", "-j", "list", "ruleset")
    if said is None or said.status:
        return None
    try:
        return Ruleset(said.out)
    except (ValueError, KeyError, TypeError):
        return None
