// SPDX-License-Identifier: GPL-2.0-only
/* Memory that the other side may reach. */
#include "wire/wire.hh"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <new>

#include "failure.hh"

namespace peer
{

/*
 * Addresses that take more than 32 bits, a new one each time; where user-mode Linux has
 * them, too. If one is not free the kernel takes another.
 */
static void *high_address(size_t size)
{
	static std::atomic<uintptr_t> next = 0x10'0000'0000;

	return reinterpret_cast<void *>(
		next.fetch_add((size + 8191) / 4096 * 4096));
}

Memory::Memory(ibv_pd *pd, size_t size, int access)
	: size_(size)
{
	void *data = mmap(high_address(size), size, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (data == MAP_FAILED)
		throw std::bad_alloc();
	data_ = static_cast<u8 *>(data);
	mr_ = ibv_reg_mr(pd, data_, size, access);
	if (!mr_) {
		munmap(data_, size_);
		fail("cannot register ", size, " bytes: ", strerror(errno));
	}
}

Memory::~Memory()
{
	revoke();
	munmap(data_, size_);
}

void Memory::put(size_t offset, View from)
{
	if (offset > size_ || from.size() > size_ - offset)
		fail("memory of ", size_, " bytes is too small");
	if (from.size())
		memcpy(data_ + offset, from.data(), from.size());
}

void Memory::fill(u8 value)
{
	memset(data_, value, size_);
}

void Memory::revoke()
{
	if (mr_)
		ibv_dereg_mr(mr_);
	mr_ = nullptr;
}

std::unique_ptr<Memory> Endpoint::memory(size_t size)
{
	return std::make_unique<Memory>(
		pd_, size,
		IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
			IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND);
}

/* Plain regions of user space cannot be invalidated by others over rxe. */
std::optional<u32> Endpoint::bind_window(Memory &memory)
{
	ibv_send_wr wr = {};
	ibv_mw *window = ibv_alloc_mw(pd_, IBV_MW_TYPE_2);

	if (!window)
		return std::nullopt;
	windows_.push_back(window);
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = window;
	wr.bind_mw.rkey = ibv_inc_rkey(window->rkey);
	wr.bind_mw.bind_info.mr = memory.mr();
	wr.bind_mw.bind_info.addr = memory.address();
	wr.bind_mw.bind_info.length = memory.size();
	wr.bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_WRITE |
					       IBV_ACCESS_REMOTE_READ;
	if (!post(wr) || !wait_for_sends(posted_))
		return std::nullopt;
	window->rkey = wr.bind_mw.rkey;
	return window->rkey;
}

} /* namespace peer */
