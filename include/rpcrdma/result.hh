// SPDX-License-Identifier: GPL-2.0
/* The codec's status as a type that cannot be dropped or mixed up with a bool. */
#ifndef RPCRDMA_RESULT_HH
#define RPCRDMA_RESULT_HH

#include "header.h"

namespace rpcrdma
{

class [[nodiscard]] Status {
    public:
	constexpr Status() = default;
	constexpr Status(rpcrdma_status code)
		: code_(code)
	{
	}

	constexpr bool ok() const
	{
		return code_ == RPCRDMA_OK;
	}
	constexpr rpcrdma_status code() const
	{
		return code_;
	}

    private:
	rpcrdma_status code_ = RPCRDMA_OK;
};

} /* namespace rpcrdma */

#endif /* RPCRDMA_RESULT_HH */
