# SPDX-License-Identifier: GPL-2.0-only
"""Names in comments: what tests/lib/comments.py finds in a small tree."""
import pytest

import comments

GUIDE = """
====================================  =======  =====================
struct                                prefix   what it is
====================================  =======  =====================
``svcrdma_transport``                 st\\_     one connection
``svcrdma_recv_ctxt``                 rc\\_     a Receive
====================================  =======  =====================
"""
CODE = """
struct svcrdma_transport { int st_sq; struct room { int waiting; } st_recv; };
#define SVCRDMA_UNREAD 0xa5
DEFINE_EVENT(svcrdma_class, svcrdma_overrun);
static void send_post(struct svcrdma_transport *t) { int size = 0; pr_info("ended_by_peer"); }
%s
"""


@pytest.fixture(name="faults")
def make_faults(tmp_path):
    """Returns faults(comment, linux), which returns the texts of the unknown names in svcrdma/a.c."""
    def put(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")

    def find(comment, linux=""):
        put("Documentation/developing.rst", GUIDE)
        put("svcrdma/a.c", CODE % comment)
        put("svcrdma/reads.h", "")
        put("svcrdma/rc_pool.c", "")
        put("xprtrdma/b.c", "void client_only(void) { xprtrdma_word = 1; }\n")
        put("common/c.c", "void shared_put(void) {}\n/* nobody_has() */\n")
        put("tests/lib/linux-names.txt", linux)
        tree = comments.Tree(tmp_path)
        return [name.text for name in tree.wrong([tmp_path / "svcrdma/a.c"])], tree
    return find


@pytest.mark.parametrize("comment", (
    "send_post() and shared_put()", "->send_post()", "trace_svcrdma_overrun() is called",
    "struct svcrdma_transport", "&struct room", "@t: st_sq is guarded", "st_recv.waiting",
    "see reads.h and common/c.c", "see rc_pool.c",
    "svcrdma/a.c", "SVCRDMA_UNREAD", "ended_by_peer", "/proc/fs/any_file",
    "RDMA_MSG", "the st_ members", "svcrdma_* events", "rdma rw and plain words"))
def test_known(faults, comment):
    assert faults(f"/* {comment} */")[0] == []


@pytest.mark.parametrize("comment, name", (
    ("It is send_posted() then", "send_posted()"), ("size() is no function", "size()"),
    ("nobody_has() is in comments only", "nobody_has()"),
    ("client_only() is of the other module", "client_only()"),
    ("pairs with sq_take().", "sq_take()"), ("a.send_off()", "send_off()"),
    ("struct svcrdma_listener", "struct svcrdma_listener"), ("enum rc_state", "enum rc_state"),
    ("st_lost is guarded", "st_lost"), ("by st_recv.empty", "st_recv.empty"),
    ("st_recv->empty", "st_recv->empty"), ("see read.h", "read.h"),
    ("see svcrdma/c.c", "svcrdma/c.c"), ("SVCRDMA_READ", "SVCRDMA_READ"),
    ("what recv_next does", "recv_next"), ("xprtrdma_word", "xprtrdma_word")))
def test_unknown(faults, comment, name):
    assert faults(f"/* {comment} */")[0] == [name]
    assert faults(f"// {comment}\n")[0] == [name]
    assert faults(f"#define A 1 /* {comment} */\n")[0] == [name]


def test_line(faults, tmp_path):
    _, tree = faults("\n/*\n * A text\n * of sq_take().\n */")
    assert [str(name) for name in tree.wrong([tmp_path / "svcrdma/a.c"])] == \
        ["svcrdma/a.c:9: sq_take()"]


def test_linux(faults):
    found, tree = faults("/* svc_recv() and irq_polls */", "# a title\nsvc_recv\nirq_poll\nold_name\n")
    assert found == []
    assert tree.linux - tree.needed == {"old_name"}


def test_prefixes():
    """The guide has the prefixes of members."""
    text = (comments.TOP / comments.GUIDE).read_text("utf-8")
    assert {"xc", "xt", "st", "rc", "sc"} <= comments.prefixes(text)


def test_read():
    """All folders have files whose comments are read."""
    names = [path.relative_to(comments.TOP).as_posix() for path in comments.read()]
    assert all(any(name.startswith(folder + "/") for name in names) for folder in comments.READ)
