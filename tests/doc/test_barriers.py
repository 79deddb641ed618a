# SPDX-License-Identifier: GPL-2.0-only
"""Barriers without a partner: what tests/lib/barriers.py finds in a small tree."""
import pytest

import barriers

CODE = """
static void take(struct t *t) { if (READ_ONCE(t->waits)) wake(t); }
static void locks(struct t *t) { spin_lock(&t->lock); }
static void give(struct t *t)
{
	t->given++;
	%s
	smp_mb();%s
	look(t);
}
"""


@pytest.fixture(name="faults")
def make_faults(tmp_path):
    def find(above, beside=""):
        (tmp_path / "svcrdma").mkdir(exist_ok=True)
        (tmp_path / "svcrdma/a.c").write_text(CODE % (above, beside), "utf-8")
        return [text for _, text in barriers.Module(["svcrdma"], tmp_path).faults("svcrdma")]
    return find


@pytest.mark.parametrize("above, beside", (
    ("/* Pairs with take(). */", ""), ("/* It is given: pairs with take(). */", ""), ("", "\t/* pairs with take() */"),
    ("/*\n\t * It is given, and waits() sees it: pairs\n\t * with take() and with locks().\n\t */", ""),
    ("/* pairs with atomic_inc() of take() */", "")))
def test_partner(faults, above, beside):
    assert not faults(above, beside)


@pytest.mark.parametrize("above, beside, fault", (
    ("", "", "svcrdma/a.c:8: smp_mb() in give() does not say with what it pairs"),
    ("/* It is given for take(). */", "", "svcrdma/a.c:8: smp_mb() in give() does not say with what it pairs"),
    ("/* Pairs with take(). */\n\tmore();", "", "svcrdma/a.c:9: smp_mb() in give() does not say with what it pairs"),
    ("/* Pairs with takes(). */", "",
     "svcrdma/a.c:8: smp_mb() in give() pairs with takes(), which has no barrier or atomic access"),
    ("/* Pairs with locks(). */", "",
     "svcrdma/a.c:8: smp_mb() in give() pairs with locks(), which has no barrier or atomic access"),
    ("", "\n\t/* pairs with take() */", "svcrdma/a.c:8: smp_mb() in give() does not say with what it pairs")))
def test_no_partner(faults, above, beside, fault):
    assert faults(above, beside) == [fault]


def test_modules():
    """The modules have barriers, so the check has something to look at."""
    texts = [path.read_text("utf-8") for folder in barriers.FOLDERS for path in (barriers.TOP / folder).glob("*.c")]
    assert sum(text.count("smp_") for text in texts) > 5
