# SPDX-License-Identifier: GPL-2.0-only
"""Of which side a test is, and which side a requirement speaks of.

The requester is the client, xprtrdma, and the responder the server, svcrdma, in both
directions: RFC 8167 turns the words around, this table does not. A row of one side has
tests of that side, or of both; a row of both has tests of each, or says in `side:` why one
of them has none. What has nothing to do with either, as a decoder of both, is of both.
"""
REQUESTER, RESPONDER = "requester", "responder"
BOTH = frozenset((REQUESTER, RESPONDER))
CLIENT, SERVER = frozenset((REQUESTER,)), frozenset((RESPONDER,))

# Suites of tests/unit/ that are of one side: its module alone calls what they test.
UNIT = {
    "CallPlan": CLIENT, "OpenReply": CLIENT, "PulledReply": CLIENT, "ReplyHistory": CLIENT,
    "ReplyHistoryOfMany": CLIENT, "ReplyHistoryPair": CLIENT, "ReverseCall": CLIENT,
    "ReverseCallTwin": CLIENT, "SizeClient": CLIENT, "Window": CLIENT, "WindowTwins": CLIENT,
    "ConnState": CLIENT,
    "Callback": SERVER, "Eligible": SERVER, "Error": SERVER,
    "Padded": SERVER, "ReplyPlan": SERVER, "Rkey": SERVER,
    "SetWritten": SERVER, "SetWrittenBounds": SERVER, "SizeServer": SERVER,
}
# Folders of kunit/. In memory/pair and memory/sweep client and server talk to each other, and
# memory/provider is of a verbs device: of nobody's.
KUNIT = (("tests/kunit/client/", CLIENT), ("tests/kunit/server/", SERVER), ("tests/kunit/core/", BOTH),
         ("tests/kunit/memory/pair/", BOTH), ("tests/kunit/memory/sweep/", BOTH),
         ("tests/kunit/memory/provider/", frozenset()))
PEER = {"client": CLIENT, "server": SERVER}


def of_unit(suite):
    return UNIT.get(suite, BOTH)


def of_kunit(path):
    """Returns the sides that a suite tests. @path: of the file that has the suite, from the top of the tree"""
    return next((sides for folder, sides in KUNIT if path.startswith(folder)), frozenset())


def wanted(requirement):
    """Returns the sides that have to have tests: none for a requirement that is about others."""
    return BOTH if requirement.side == "both" else BOTH & {requirement.side}


def faults(requirement, tests, side_of):
    """Yields the faults about the sides of @tests: those of the requirement, or those of requirements that say
    the same."""
    own, covered = wanted(requirement), set()
    for test in tests:
        covered |= side_of(test)
        # What others show is theirs.
        if own and not own & side_of(test) and not requirement.same:
            yield f"{test} is no test of the {requirement.side}"
    missing = sorted(own - covered) if tests else []
    if requirement.lone and not missing:
        yield "says why a side has no test, and both have"
    for side in missing:
        if not requirement.lone:
            yield f"has no test of the {side}, nor a reason in 'side:'"
