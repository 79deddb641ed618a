# SPDX-License-Identifier: GPL-2.0-only
"""What kbuild/compat-probe makes of kernels, with headers that have just what it asks for: of
those that nobody has looked at, it says so, and writes nothing. And for which kernels
kbuild/headers-check has a build go on."""
import pathlib
import re
import subprocess

import pytest

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
COMPAT = TOP / "include/compat"
SVC = "linux/sunrpc/svc.h"
NFREE = "#define min(a, b) ((a) < (b) ? (a) : (b))\n" \
        "struct svc_rqst { unsigned long rq_pages_nfree, rq_maxpages; };\n"
MAXPAGES = "#define RPCSVC_MAXPAGES 259\n"
STRANGE = "the pages of its struct svc_rqst are laid out in a way that nobody has looked at"
BROKEN = "its headers do not compile as those of Linux 6.1 to 7.3 do"
# name: text of svc.h, macros that are defined
KNOWN = {
    "two arrays": (NFREE, {"COMPAT_HAVE_RQ_PAGES_NFREE"}),
    "one array": (MAXPAGES, {"COMPAT_HAVE_RPCSVC_MAXPAGES"}),
}
# name: text of svc.h, header to leave out, why it is refused
REFUSED = {
    "neither": ("", None, STRANGE),
    "both": (NFREE + MAXPAGES, None, STRANGE),
    "a header is missing": (NFREE, "rdma/rw.h", BROKEN),
    "a header does not compile": (NFREE + "int x = ;\n", None, BROKEN),
}


def headers(folder, svc, without):
    """The headers that all the probes include; empty but for @svc."""
    for source in (COMPAT / "required/base.c", *(COMPAT / "probes").glob("*.c")):
        for name in re.findall(r"#include <(.*)>", source.read_text("utf-8")):
            if name not in (without, "trace/stages/stage6_event_callback.h"):
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(svc if name == SVC else "", "utf-8")


def probe(folder, svc, without=None):
    """Runs the probe. Returns its result, and the path of the header that it writes."""
    headers(folder / "include", svc, without)
    header = folder / "compat_config.h"
    done = subprocess.run([TOP / "kbuild/compat-probe", header, COMPAT, "9.9.9", "gcc",
                           f"-I{folder}/include"], capture_output=True, text=True, check=False)
    return done, header


@pytest.mark.parametrize("svc, macros", KNOWN.values(), ids=KNOWN)
def test_known(tmp_path, svc, macros):
    done, header = probe(tmp_path, svc)
    assert done.returncode == 0, done.stderr
    assert set(re.findall(r"^#define (COMPAT_HAVE_RPC\w+|COMPAT_HAVE_RQ\w+) 1$",
                          header.read_text("utf-8"), re.M)) == macros


@pytest.mark.parametrize("svc, without, why", REFUSED.values(), ids=REFUSED)
def test_refused(tmp_path, svc, without, why):
    done, header = probe(tmp_path, svc, without)
    assert done.returncode
    assert f"compat-probe: these modules are not for Linux 9.9.9: {why}" in \
        done.stderr.splitlines()
    assert not header.exists()


GENERATED = "include/generated"
RIGHT = {"Makefile": "", f"{GENERATED}/utsrelease.h": '#define UTS_RELEASE "9.9.9"\n',
         f"{GENERATED}/autoconf.h": "#define CONFIG_64BIT 1\n#define CONFIG_INFINIBAND_ADDR_TRANS 1\n"}
# name: files that are otherwise, None: not there; what is said
HEADERS = {
    "right": ({}, None),
    "none": ({"Makefile": None}, "No headers for kernel 9.9.9: apt-get install"),
    "not prepared": ({f"{GENERATED}/utsrelease.h": None},
                     "is not prepared for modules: apt-get install --reinstall"),
    "of another kernel": (
        {f"{GENERATED}/utsrelease.h": '#define UTS_RELEASE "9.9.8"\n'},
        "has the headers of 9.9.8, not of 9.9.9: apt-get"),
    "of 32 bits": (
        {f"{GENERATED}/autoconf.h": "#define CONFIG_PHYS_ADDR_T_64BIT 1\n"},
        "Linux 9.9.9 has 32 bits, and these modules are for 64: its own rpcrdma.ko stays"),
    "without RDMA": (
        {f"{GENERATED}/autoconf.h": "#define CONFIG_64BIT 1\n#define CONFIG_INFINIBAND_MODULE 1\n"},
        "Linux 9.9.9 has no RDMA (CONFIG_INFINIBAND_ADDR_TRANS), and no NFS over RDMA: apt-get"),
}


@pytest.mark.parametrize("otherwise, why", HEADERS.values(), ids=HEADERS)
def test_headers(tmp_path, otherwise, why):
    for name, text in {**RIGHT, **otherwise}.items():
        if text is not None:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, "utf-8")
    done = subprocess.run([TOP / "kbuild/headers-check", "9.9.9", tmp_path],
                          capture_output=True, text=True, check=False)
    assert bool(done.returncode) == bool(why)
    if why:
        assert why in done.stderr
    assert done.stderr.count("\n") == bool(why)
