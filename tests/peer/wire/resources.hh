// SPDX-License-Identifier: GPL-2.0-only
/* Counts objects that must not grow in number: of the RDMA device, of kernel and user space. */
#ifndef PEER_RESOURCES_HH
#define PEER_RESOURCES_HH

#include <map>
#include <string>

namespace peer
{

/* Objects that the kernel counts for the RDMA device: qp, cm_id, cq, pd, mr */
using Resources = std::map<std::string, long>;
Resources count_resources();
/* Waits until there are no more of them than @before, and throws if there always are. */
void expect_resources(const Resources &before);

} /* namespace peer */

#endif /* PEER_RESOURCES_HH */
