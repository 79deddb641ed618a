# SPDX-License-Identifier: GPL-2.0-only
# SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
# A rule for freestanding C++20 in modules, which kbuild does not have.
#
# Every flag that shapes code comes from the kernel (red zone, code model,
# retpolines, return thunks, patchable entries, sanitizers), so that a C++
# object links and unwinds like a C one. Warnings and include folders do not:
# g++ refuses some of the former, and C++ may not see a kernel header.

CXX := $(subst gcc,g++,$(CC))
ifneq ($(shell echo 'template <class T> concept small = sizeof(T) < 9;' | \
	$(CXX) -std=gnu++20 -fsyntax-only -x c++ - 2>&1 || echo no),)
$(error $(CXX) does not compile C++20, which these modules are written in: install it, version 10 or newer)
endif

# libstdc++'s own folders; neither the C library's nor the kernel's.
cxx-include := $(shell echo | $(CXX) -x c++ -E -v - 2>&1 | \
	sed -n 's,^ \(/.*c++.*\)$$,\1,p') \
	$(shell $(CXX) -print-file-name=include)

cxx-kernel-flags = $(filter-out -std=% -W% -I% -include -g%, $(_c_flags)) \
	$(filter -Wa$(comma)%, $(_c_flags)) $(modkern_cflags) \
	$(basename_flags) $(modname_flags)

# -fno-weak: COMDAT groups and __mcount_loc do not go together under ld -r.
# -g1: line tables; BTF generation fails on full C++ debug information.
cxx-language-flags := -std=gnu++20 -ffreestanding -fno-exceptions -fno-rtti \
	-fno-weak -fno-use-cxa-atexit -fno-threadsafe-statics -funsigned-char \
	-fno-asynchronous-unwind-tables -g1

cxx-warnings := -Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor \
	-Wno-volatile -Wno-stringop-overflow

cxx_flags = -Wp,-MMD,$(depfile) -nostdinc -nostdinc++ \
	$(addprefix -isystem , $(src)/include/freestanding $(cxx-include)) \
	-I$(src)/include $(cxx-kernel-flags) $(cxx-language-flags) \
	$(cxx-warnings)

quiet_cmd_cxx_o_cc = CXX $(quiet_modtag) $@
      cmd_cxx_o_cc = $(CXX) $(cxx_flags) -c -o $@ $< $(cmd_objtool)

cmd_check_object = $(CONFIG_SHELL) $(src)/kbuild/check-object $@

define rule_cxx_o_cc
	$(call cmd_and_fixdep,cxx_o_cc)
	$(call cmd,check_object)
	$(call cmd,gen_objtooldep)
	$(call cmd,record_mcount)
endef

cxx-rule-files := $(src)/kbuild/check-object $(src)/kbuild/Kbuild.cxx

$(obj)/%.o: $(obj)/%.cc $(cxx-rule-files) FORCE
	$(call if_changed_rule,cxx_o_cc)

# In a static pattern $* keeps its folder, from which kbuild finds the module.
define core-rule
$(addprefix $(obj)/, $(filter %/$(1), $(shared-cxx-objs))): $(obj)/%.o: \
		$(src)/include/rpcrdma/$(notdir $(1:.o=.cc)) $(cxx-rule-files) FORCE
	$$(call if_changed_rule,cxx_o_cc)
endef
$(foreach object, $(core), $(eval $(call core-rule,$(object))))
