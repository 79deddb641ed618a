# SPDX-License-Identifier: GPL-2.0
# What a person types. `make help` lists it.

# A kernel of scripts/kernel/build: um, um-debug or debug.
ifdef TEST_KERNEL
KDIR := $(shell scripts/kernel/build $(TEST_KERNEL))
ARCH := $(if $(filter um%,$(TEST_KERNEL)),um)
endif

ifdef KDIR
KVER := $(shell cat $(KDIR)/include/config/kernel.release)
else
KVER ?= $(shell uname -r)
KDIR := /lib/modules/$(KVER)/build
endif

INSTALLED = $(or $(patsubst /lib/modules/%/build,%,$(wildcard /lib/modules/*/build)),none is)
BUILD := $(CURDIR)/build/$(KVER)
UPDATES := $(DESTDIR)/lib/modules/$(KVER)/updates
MODPROBE_CONF := $(DESTDIR)/etc/modprobe.d/rpcrdma-oot.conf
MODPROBE_LOAD := $(DESTDIR)/usr/lib/rpcrdma-oot/load
UDEV_RULES := $(DESTDIR)/etc/udev/rules.d/60-rpcrdma-oot.rules
MODULES := xprtrdma.ko svcrdma.ko

# BTF of modules is made where the header package has a vmlinux.
KBUILD = $(MAKE) -C $(KDIR) M=$(BUILD) $(if $(ARCH),ARCH=$(ARCH)) \
	$(if $(wildcard $(KDIR)/vmlinux),,CONFIG_DEBUG_INFO_BTF_MODULES=) \
	--no-print-directory

modules: headers
	@scripts/shadow $(BUILD)
	+@$(KBUILD) modules || { \
		echo "xprtrdma and svcrdma do not build for Linux $(KVER): see the first error above. The kernel's own rpcrdma.ko stays in use there." >&2; \
		exit 1; }

headers:
	@test -e $(KDIR)/Makefile || { \
		echo "No headers for kernel $(KVER): apt-get install linux-headers-$(KVER), or name one that is installed with KVER= ($(INSTALLED))" >&2; \
		exit 1; }

# Not modules_install: without a System.map, as in header packages, it skips
# depmod, and it tries to sign with a key that is not there.
install: modules
	install -d $(UPDATES)
	install -m 644 $(addprefix $(BUILD)/,$(MODULES)) $(UPDATES)
	install -D -m 644 scripts/modprobe.d/rpcrdma-oot.conf $(MODPROBE_CONF)
	install -D -m 755 scripts/modprobe.d/load $(MODPROBE_LOAD)
	install -D -m 644 scripts/udev/60-rpcrdma-oot.rules $(UDEV_RULES)
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KVER)

uninstall:
	rm -f $(addprefix $(UPDATES)/,$(MODULES)) $(MODPROBE_CONF) $(MODPROBE_LOAD) $(UDEV_RULES)
	-rmdir $(dir $(MODPROBE_LOAD)) 2>/dev/null
	depmod $(if $(DESTDIR),-b $(DESTDIR)) $(KVER)

# The KUnit modules, in a folder of their own; scripts/kunit runs them.
kunit: BUILD := $(CURDIR)/build/$(KVER)-kunit
kunit: headers
	@scripts/shadow $(BUILD)
	+@$(KBUILD) CONFIG_RPCRDMA_KUNIT=y modules

# Python is one of them.
packages:
	@scripts/install-packages test

# The raw wire peer against both modules, over both providers.
peer: packages
	@scripts/test peer-rxe peer-siw

demo:
	@scripts/demo

test: packages
	@scripts/test

test-all: packages
	@scripts/test --all

# Of what is fast
conformance: packages
	@scripts/test unit kunit-um ours-um peer-rxe conformance

bench:
	@scripts/bench

fuzz:
	@$(MAKE) -C fuzz run

hostile: packages
	@scripts/hostile

check:
	@scripts/check

deb:
	@scripts/deb

dkms:
	@scripts/dkms-install

clean:
	rm -rf build
	@for d in unit fuzz tests/peer; do \
		if [ -e $$d/Makefile ]; then $(MAKE) -C $$d clean; fi; done

help:
	@cat scripts/help.txt

.PHONY: modules kunit headers install uninstall packages peer demo test test-all conformance bench fuzz hostile check deb dkms clean help
.DEFAULT_GOAL := modules
