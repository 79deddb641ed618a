# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
# What a person types. `make help` lists it.

# A kernel of tests/kernel/build: um, um-debug, debug, kcsan, arm64-64k ...; or s390x, Debian's,
# whose headers know what compiles for it.
ifeq ($(TEST_KERNEL),s390x)
KDIR := $(wildcard $(shell tests/machine/foreign-root s390x)/lib/modules/*/build)
else ifdef TEST_KERNEL
KDIR := $(shell tests/kernel/build $(TEST_KERNEL))
ARCH := $(if $(filter um%,$(TEST_KERNEL)),um)$(if $(filter arm64%,$(TEST_KERNEL)),arm64)
CROSS := $(if $(filter arm64%,$(TEST_KERNEL)),aarch64-linux-gnu-)
endif

ifdef KDIR
KVER := $(shell cat $(KDIR)/include/config/kernel.release)
else
KVER ?= $(shell uname -r)
KDIR := /lib/modules/$(KVER)/build
endif

BUILD := $(CURDIR)/build/$(KVER)

# BTF of modules is made where the header package has a vmlinux. MEMORY: tests/provider, too.
KBUILD = $(MAKE) -C $(KDIR) M=$(BUILD) $(if $(ARCH),ARCH=$(ARCH)) $(if $(CROSS),CROSS_COMPILE=$(CROSS)) \
	$(if $(wildcard $(KDIR)/vmlinux),,CONFIG_DEBUG_INFO_BTF_MODULES=) \
	$(if $(filter %gcov,$(TEST_KERNEL)),CONFIG_RPCRDMA_GCOV=y) \
	$(if $(MEMORY),CONFIG_RPCRDMA_MEMORY=y) \
	--no-print-directory

modules: headers
	@kbuild/shadow $(BUILD)
	+@$(KBUILD) modules || { \
		echo "xprtrdma and svcrdma do not build for Linux $(KVER): see the first error above. The kernel's own rpcrdma.ko stays in use there." >&2; \
		exit 1; }

headers:
	@kbuild/headers-check $(KVER) $(KDIR)

# Not modules_install: without a System.map, as in header packages, it skips
# depmod, and it tries to sign with a key that is not there.
install: modules
	@packaging/install $(KVER) $(BUILD) $(DESTDIR)

uninstall:
	@packaging/install --remove $(KVER) $(DESTDIR)

# The KUnit modules, in a folder of their own; scripts/kunit runs them. FUZZ=y: with what
# tests/fuzz/modules needs, in another one.
kunit: BUILD := $(CURDIR)/build/$(KVER)-$(if $(FUZZ),fuzz,kunit)
kunit: headers
	@kbuild/shadow $(BUILD)
	+@$(KBUILD) CONFIG_RPCRDMA_KUNIT=y $(if $(FUZZ),CONFIG_RPCRDMA_FUZZ=y) modules

# Python is one of them.
packages:
	@scripts/install-packages test

# The raw wire peer against both modules, over both providers.
peer: packages
	@scripts/test peer-rxe peer-siw

demo:
	@scripts/demo

shell:
	@scripts/machine

test: packages
	@scripts/test

# After a change, before the next one: in a minute
quick: packages
	@scripts/test --quick

test-all: packages
	@scripts/test --all

# Of what is fast
conformance: packages
	@scripts/test unit kunit kunit-memory ours-um peer-rxe peer-again conformance

bench: packages
	@scripts/bench

fuzz: packages
	@$(MAKE) -C tests/fuzz run
	@tests/fuzz/modules/run --seconds 600

hostile: packages
	@scripts/hostile

# All that goes wrong, for HOURS=N, by a SEED=N
soak: packages
	@scripts/soak $(HOURS:%=--hours %) $(MINUTES:%=--minutes %) $(SEED:%=--seed %)

# What do the tests not notice? SEED=N COUNT=N
mutate: packages
	@scripts/mutate modules $(SEED:%=--seed %) $(COUNT:%=--count %)
	@scripts/mutate core $(SEED:%=--seed %) $(COUNT:%=--count %)

# Which lines of the modules do the tests reach?
coverage: packages
	@scripts/coverage

check:
	@scripts/check

# Documentation as HTML: build/doc/index.html
doc:
	@scripts/install-packages doc
	@scripts/conformance --write
	@rm -rf build/doc
	@sphinx-build -q -W --keep-going -b html -d build/doctrees Documentation build/doc
	@echo "build/doc/index.html"

deb:
	@packaging/deb

dkms:
	@packaging/dkms-install $(if $(filter command line environment,$(origin KVER)),-k $(KVER))

clean:
	rm -rf build Documentation/conformance.rst
	@for d in tests/unit tests/fuzz tests/peer; do \
		if [ -e $$d/Makefile ]; then $(MAKE) -C $$d clean; fi; done

help:
	@sed '/^#/d' scripts/help.txt

.PHONY: modules kunit headers install uninstall packages peer demo shell quick test test-all conformance bench fuzz hostile soak mutate coverage check doc deb dkms clean help
.DEFAULT_GOAL := modules
