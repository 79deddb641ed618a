// SPDX-License-Identifier: GPL-2.0
/* The tracepoints' bodies. */
#include "svcrdma.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
