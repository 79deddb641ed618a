// SPDX-License-Identifier: GPL-2.0
/* Memory that the other side may reach */
#include "wire/wire.hh"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "failure.hh"

namespace peer
{

Memory::Memory(ibv_pd *pd, size_t size, int access)
	: size_(size)
{
	data_ = static_cast<u8 *>(
		aligned_alloc(4096, (size + 4095) / 4096 * 4096));
	if (!data_)
		throw std::bad_alloc();
	memset(data_, 0, size);
	mr_ = ibv_reg_mr(pd, data_, size, access);
	if (!mr_) {
		free(data_);
		fail("cannot register ", size, " bytes: ", strerror(errno));
	}
}

Memory::~Memory()
{
	revoke();
	free(data_);
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
