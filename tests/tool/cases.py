# SPDX-License-Identifier: GPL-2.0-only
"""Conversations that break one rule each. CASES: {name: (the requirements that the tool has to
name, what is done)}. Each has a connection of its own, on which a call was answered before."""
from frames import CLIENT, PRIVATE, SERVER
from rpc import (CALLBACK, DONE, ERROR, GETATTR, GRANT, HANDLE, MSG, MSGP, NOMSG, READ, READDIR,
                 WRITE, call, getattr_results, header, read_arguments, read_results, reply, words,
                 write_arguments, write_results)

# Of chunks: R_key, length, offset
CHUNK = (0x1111, 8192, 0x10000)
POSITION = 96
LATER = 0xffff
PLAIN_PRIVATE = PRIVATE[:8]
CASES = {}


def case(*rules, **how):
    """Adds a case that breaks these @rules. @how: arguments for the constructor of the connection; @first:
    whether it begins with a call"""
    def add(function):
        CASES[function.__name__.replace("_", " ")] = (rules, function, how)
        return function
    return add


def ask(link, xid=2, body=None, side=CLIENT, invalidate=None, **fields):
    link.send(side, header(xid, **fields) + (call(xid, GETATTR, HANDLE) if body is None else body),
              invalidate)


def answer(link, xid=2, body=None, side=SERVER, invalidate=None, grant=GRANT, **fields):
    link.send(side, header(xid, credits=grant, **fields) +
              (reply(xid, getattr_results()) if body is None else body), invalidate)


def ask_read(link, xid=2, chunk=CHUNK):
    ask(link, xid, call(xid, READ, read_arguments(chunk[1])), writes=[[chunk]])


def answer_read(link, xid=2, writes=None, **more):
    answer(link, xid, reply(xid, read_results(CHUNK[1])),
           writes=[[CHUNK]] if writes is None else writes, **more)


def ask_write(link, xid=2, position=POSITION, chunk=CHUNK):
    ask(link, xid, call(xid, WRITE, write_arguments(chunk[1])), reads=[(position, *chunk)])


def answer_write(link, xid=2, **more):
    answer(link, xid, reply(xid, write_results(CHUNK[1])), **more)


def ask_readdir(link, xid=2):
    ask(link, xid, call(xid, READDIR, HANDLE + bytes(20)), reply=[CHUNK])


def expose(link, xid=2, kind=NOMSG, **more):
    answer(link, xid, b"", kind=kind, reads=[(0, *CHUNK)], **more)


def done(link, xid=2, body=b"", invalidate=None):
    link.send(CLIENT, words(xid, 1, 128, DONE) + body, invalidate)


def data(length=CHUNK[1]):
    return bytes(length)


def go_on(link):
    """Sends one more message from each side, which shows that nothing is missing before it."""
    ask(link, LATER)
    answer(link, LATER)


def good(link):
    """Does everything that is allowed."""
    ask_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data(4096))
    link.write(SERVER, CHUNK[0], CHUNK[2] + 4096, data(4096))
    answer_read(link, invalidate=CHUNK[0])
    ask_write(link, 3)
    link.read(SERVER, CHUNK[0], CHUNK[2], data())
    answer_write(link, 3)
    whole = call(4, WRITE, write_arguments(8000)) + data(8000)
    ask(link, 4, b"", kind=NOMSG, reads=[(0, 0x2222, len(whole), 0x5000)], writes=[[CHUNK]])
    link.read(SERVER, 0x2222, 0x5000, whole)
    answer(link, 4, writes=[[(CHUNK[0], 0, CHUNK[2])]])
    ask_readdir(link, 5)
    link.write(SERVER, CHUNK[0], CHUNK[2], data(5000))
    answer(link, 5, b"", kind=NOMSG, reply=[(CHUNK[0], 5000, CHUNK[2])])
    ask(link, 6)
    expose(link, 6)
    link.read(CLIENT, CHUNK[0], CHUNK[2], reply(6) + data(CHUNK[1] - 24))
    done(link, 6)
    ask(link, 7, call(7, 1, b"", CALLBACK, 4), side=SERVER)
    answer(link, 7, side=CLIENT, grant=16)
    ask(link, 8)
    link.send(SERVER, words(8, 1, GRANT, ERROR, 2))
    ask(link, 9)
    ask(link, 10)
    answer(link, 10)
    link.write(CLIENT, 0, 0, b"")
    answer(link, 9)


@case("8166-19")
def version_2(link):
    ask(link, version=2)
    link.send(SERVER, words(2, 1, GRANT, ERROR, 1, 1, 1))


@case("8166-17")
def a_type_that_is_none(link):
    ask(link, kind=7)


@case("8166-24")
def msgp(link):
    link.send(CLIENT, words(2, 1, 128, MSGP, 4, 64, 0, 0, 0) + call(2, GETATTR, HANDLE))
    link.send(SERVER, words(2, 1, GRANT, ERROR, 2))


@case("8166-59")
def a_message_of_8_bytes(link):
    link.send(CLIENT, words(2, 1))


@case("8166-59", "8166-17")
def a_message_of_20_bytes(link):
    link.send(CLIENT, words(2, 1, 128, MSG, 0))


@case("8166-17")
def a_discriminator_of_2(link):
    link.send(CLIENT, words(2, 1, 128, MSG, 2, 0, 0) + call(2, GETATTR, HANDLE))


@case("8166-17")
def more_segments_than_bytes(link):
    link.send(CLIENT, words(2, 1, 128, MSG, 0, 1, 4000, 1, 2, 3, 4))


@case("8166-18")
def another_xid_behind_the_header(link):
    ask(link, 2, call(3, GETATTR, HANDLE))


@case("8166-18")
def no_message_behind_the_header(link):
    ask(link, 2, b"")


@case("8166-18")
def neither_call_nor_reply(link):
    ask(link, 2, words(2, 7, 0, 0))


@case("8166-22")
def nomsg_with_a_payload(link):
    whole = call(2, GETATTR, HANDLE)
    ask(link, body=whole, kind=NOMSG, reads=[(0, 0x1111, len(whole), 0)])


@case("8166-22", "8166-53")
def nomsg_without_chunks(link):
    ask(link, body=b"", kind=NOMSG)


@case("8166-53")
def nomsg_without_position_zero(link):
    ask(link, body=b"", kind=NOMSG, reply=[CHUNK])


@case("8166-53")
def msg_with_position_zero(link):
    ask_write(link, position=0)


@case("8166-39")
def position_98(link):
    ask_write(link, position=98)


@case("")
def positions_in_disorder(link):
    ask(link, 2, call(2, WRITE, write_arguments(CHUNK[1])),
        reads=[(POSITION, *CHUNK), (POSITION - 4, *CHUNK)])


@case("8166-9", first=False)
def a_second_call_before_a_grant(link):
    ask(link, 2)
    ask(link, 3)


@case("8166-1")
def more_calls_than_granted(link):
    ask(link, 2)
    answer(link, 2, grant=2)
    for xid in 3, 4, 5:
        ask(link, xid)


@case("")
def the_same_xid_twice(link):
    ask(link)
    ask(link)
    answer(link)


@case("8166-3")
def a_grant_of_zero(link):
    ask(link)
    answer(link, grant=0)


@case("8166-3")
def an_error_that_grants_zero(link):
    ask(link)
    link.send(SERVER, words(2, 1, 0, ERROR, 2))


@case("8166-18")
def a_reply_to_nothing(link):
    answer(link)


@case("8166-47")
def one_write_chunk_too_few(link):
    ask_read(link)
    answer_read(link, writes=[])


@case("8166-47")
def another_r_key_returned(link):
    ask_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())
    answer_read(link, writes=[[(0x9999, *CHUNK[1:])]])


@case("8166-47")
def another_offset_returned(link):
    ask_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())
    answer_read(link, writes=[[(*CHUNK[:2], CHUNK[2] + 4)]])


@case("8166-47")
def more_returned_than_offered(link):
    ask_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())
    answer_read(link, writes=[[(CHUNK[0], CHUNK[1] + 4, CHUNK[2])]])


@case("8166-47")
def more_returned_than_written(link):
    ask_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data(4096))
    answer_read(link)


@case("8166-46")
def a_hole_in_a_write_chunk(link):
    two = [CHUNK, (0x2222, 4096, 0)]
    ask(link, 2, call(2, READ, read_arguments(12288)), writes=[two])
    link.write(SERVER, 0x2222, 0, data(4096))
    answer_read(link, writes=[[(CHUNK[0], 0, CHUNK[2]), two[1]]])


@case("8166-57")
def a_reply_chunk_that_was_not_offered(link):
    ask(link)
    answer(link, reply=[(0x1111, 0, 0)])


@case("8166-57")
def a_reply_chunk_that_is_kept(link):
    ask_readdir(link)
    answer(link)


@case("8166-22")
def nomsg_and_nothing_written(link):
    ask_readdir(link)
    answer(link, body=b"", kind=NOMSG, reply=[(CHUNK[0], 0, CHUNK[2])])


@case("8166-56")
def msg_and_the_reply_chunk_used(link):
    ask_readdir(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())
    answer(link, reply=[CHUNK])


@case("8166-42", private=PLAIN_PRIVATE)
def an_exposed_reply_unannounced(link):
    ask(link)
    expose(link)
    link.read(CLIENT, CHUNK[0], CHUNK[2], data())
    done(link)


@case("RR8")
def read_chunks_beside_a_reply(link):
    ask(link)
    answer(link, reads=[(0, *CHUNK)])
    link.read(CLIENT, CHUNK[0], CHUNK[2], data())
    done(link)


@case("8166-25")
def done_for_nothing(link):
    done(link)


@case("RR9")
def done_without_a_read(link):
    ask(link)
    expose(link)
    done(link)


@case("RR9")
def done_of_20_bytes(link):
    ask(link)
    expose(link)
    link.read(CLIENT, CHUNK[0], CHUNK[2], data())
    done(link, body=words(0))


@case("RR10")
def done_that_invalidates(link):
    ask(link)
    expose(link)
    link.read(CLIENT, CHUNK[0], CHUNK[2], data())
    done(link, invalidate=CHUNK[0])


@case("8166-65")
def an_error_for_nothing(link):
    link.send(SERVER, words(2, 1, GRANT, ERROR, 2))


@case("8166-65")
def error_9(link):
    ask(link)
    link.send(SERVER, words(2, 1, GRANT, ERROR, 9))


@case("8166-23")
def an_error_by_a_requester(link):
    link.send(CLIENT, words(2, 1, GRANT, ERROR, 2))


@case("8166-62", "8166-19")
def versions_3_to_2(link):
    ask(link, version=2)
    link.send(SERVER, words(2, 1, GRANT, ERROR, 1, 3, 2))


@case("8166-62")
def err_vers_for_a_version_it_has(link):
    ask(link)
    link.send(SERVER, words(2, 1, GRANT, ERROR, 1, 1, 1))


@case("8166-113")
def invalidates_what_is_another_call_s(link):
    ask_read(link, 3, (0x3333, 8192, 0))
    ask(link)
    answer(link, invalidate=0x3333)


@case("8166-113")
def a_call_that_invalidates(link):
    ask(link, invalidate=0x1111)


@case("8166-113", private=PRIVATE[:5] + b"\0" + PRIVATE[6:])
def invalidates_without_r(link):
    ask_write(link)
    link.read(SERVER, CHUNK[0], CHUNK[2], data())
    answer_write(link, invalidate=CHUNK[0])


@case("8166-15", private=b"")
def longer_than_the_threshold(link):
    ask(link, 2, call(2, WRITE, write_arguments(1024)) + data(1024))


@case("8166-72")
def an_r_key_that_was_not_offered(link):
    ask_write(link)
    link.read(SERVER, 0x4444, 0, data())


@case("8166-72")
def an_r_key_of_another_connection(link):
    ask(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())


@case("8166-72")
def a_read_past_the_end(link):
    ask_write(link)
    link.read(SERVER, CHUNK[0], CHUNK[2] + 4096, data())


@case("8166-72")
def a_read_before_the_beginning(link):
    ask_write(link)
    link.read(SERVER, CHUNK[0], CHUNK[2] - 4, data(8))


@case("8166-97")
def a_write_past_the_end(link):
    ask_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data(CHUNK[1] + 4))


@case("8166-74")
def a_write_into_a_read_chunk(link):
    ask_write(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())


@case("8166-74")
def a_read_from_a_write_chunk(link):
    ask_read(link)
    link.read(SERVER, CHUNK[0], CHUNK[2], data())


@case("8166-41")
def a_read_after_the_reply(link):
    ask_write(link)
    answer_write(link)
    link.read(SERVER, CHUNK[0], CHUNK[2], data())


@case("A5")
def a_write_after_the_reply(link):
    ask_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())
    answer_read(link)
    link.write(SERVER, CHUNK[0], CHUNK[2], data())


@case("RR5", private=PLAIN_PRIVATE)
def chunks_in_a_call_back(link):
    ask(link, 7, call(7, 1, b"", CALLBACK, 4), side=SERVER, reply=[CHUNK])
    answer(link, 7, side=CLIENT, reply=[(CHUNK[0], 0, CHUNK[2])])


def first_call(link):
    ask(link, 1, call(1, 0))
    answer(link, 1, reply(1))
