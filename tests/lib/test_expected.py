# SPDX-License-Identifier: GPL-2.0-only
"""The lists of what has to run: a name that is in none, or a list that is not there, asks for nothing."""
import pytest

from expected import TOP, Expected
from rows import ROWS


@pytest.mark.parametrize("row", [row for row in ROWS if row.checks], ids=lambda row: row.name)
def test_checks_of_a_row(row):
    expected = {name.split()[1] for name in Expected("matrix", selected=row.wants).names}
    assert expected == set(row.checks)
    for check in row.checks:
        assert any((TOP / f"tests/guest/{folder}/{check}").is_file() for folder in ("checks", "faults"))


def test_list_that_is_not_there():
    assert list(Expected("hostile", "of-nobody").faults([]))[:1] == [
        ("expected", "tests/expected/of-nobody is not there")]
