// SPDX-License-Identifier: GPL-2.0-only
// SPDX-FileCopyrightText: 2026 The rpcrdma-oot project
/* The status of the codec, as a type that the caller cannot ignore, nor take for a bool */
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
