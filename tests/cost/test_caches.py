# SPDX-License-Identifier: GPL-2.0-only
"""Tests the model of caches (caches.c): which accesses miss, and which lines move."""
import ctypes
import subprocess
import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent
LINE, L1_SETS, L1_WAYS, L2_WAYS, L2_SETS = 64, 64, 8, 16, 1024


class Misses(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("l1d", "l1i", "l2", "moved")]

    def __iter__(self):
        return iter((self.l1d, self.l1i, self.l2, self.moved))


class Caches:
    """The caches of @cpus processors. Each method returns what an access has cost: l1d, l1i, l2, moved."""

    def __init__(self, library, cpus):
        self.library = library
        assert library.caches_init(cpus)

    def data(self, cpu, address, size=8, store=False):
        misses = Misses()
        self.library.caches_data(cpu, ctypes.c_uint64(address), size, store, ctypes.byref(misses))
        return tuple(misses)

    def load(self, cpu, address, size=8):
        return self.data(cpu, address, size)

    def store(self, cpu, address):
        return self.data(cpu, address, store=True)

    def fetch(self, cpu, first, last):
        misses = Misses()
        self.library.caches_fetch(cpu, ctypes.c_uint64(first), ctypes.c_uint64(last),
                                  ctypes.byref(misses))
        return tuple(misses)


@pytest.fixture(scope="module", name="library")
def fixture_library(tmp_path_factory):
    path = tmp_path_factory.mktemp("caches") / "caches.so"
    subprocess.run(["gcc", "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared", "-o",
                    path, HERE / "caches.c"], check=True)
    library = ctypes.CDLL(str(path))
    library.caches_init.restype = ctypes.c_bool
    return library


@pytest.fixture(name="one")
def fixture_one(library):
    return Caches(library, 1)


@pytest.fixture(name="two")
def fixture_two(library):
    return Caches(library, 2)


def test_first_access_misses_and_second_hits(one):
    assert one.load(0, 0x1000) == (1, 0, 1, 0)
    assert one.load(0, 0x1000 + LINE - 8) == (0, 0, 0, 0)


def test_access_over_a_line_is_two(one):
    assert one.load(0, 0x1000 + LINE - 4) == (2, 0, 2, 0)


def test_address_zero_is_a_line_like_others(one):
    assert one.load(0, 0) == (1, 0, 1, 0)
    assert one.load(0, 0) == (0, 0, 0, 0)


def test_oldest_of_a_set_goes_from_l1_and_stays_in_l2(one):
    same_set = [n * L1_SETS * LINE for n in range(1, L1_WAYS + 2)]
    for address in same_set[:-1]:
        one.load(0, address)
    one.load(0, same_set[0])        # not the oldest any more
    assert one.load(0, same_set[-1]) == (1, 0, 1, 0)
    assert one.load(0, same_set[0]) == (0, 0, 0, 0)
    assert one.load(0, same_set[1]) == (1, 0, 0, 0)


def test_oldest_of_a_set_goes_from_l2(one):
    same_set = [n * L2_SETS * LINE for n in range(1, L2_WAYS + 2)]
    for address in same_set:
        one.load(0, address)
    assert one.load(0, same_set[0]) == (1, 0, 1, 0)


def test_code_has_a_cache_of_its_own_before_l2(one):
    assert one.fetch(0, 7, 8) == (0, 2, 2, 0)
    assert one.fetch(0, 8, 8) == (0, 0, 0, 0)
    assert one.load(0, 8 * LINE) == (1, 0, 0, 0)


def test_store_takes_the_line_from_the_other(two):
    two.load(0, 0x1000)
    two.load(1, 0x1000)
    assert two.store(1, 0x1000) == (0, 0, 0, 1)
    assert two.store(1, 0x1000) == (0, 0, 0, 0)
    # It comes back, changed.
    assert two.load(0, 0x1000) == (1, 0, 1, 1)
    assert two.load(0, 0x1000) == (0, 0, 0, 0)


def test_line_that_nobody_changes_does_not_move(two):
    two.load(0, 0x1000)
    assert two.load(1, 0x1000) == (1, 0, 1, 0)


def test_new_caches_are_empty(library):
    for _ in range(2):
        assert Caches(library, 1).load(0, 0x1000) == (1, 0, 1, 0)


def test_more_processors_than_there_are_places(library):
    assert not library.caches_init(9)
