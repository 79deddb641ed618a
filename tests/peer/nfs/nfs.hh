// SPDX-License-Identifier: GPL-2.0-only
/*
 * Just enough of ONC RPC and NFS: calls as bytes, and the few fields of replies that
 * scenarios look at. RFC 5531, RFC 1813, RFC 7530.
 */
#ifndef PEER_NFS_HH
#define PEER_NFS_HH

#include "wire/bytes.hh"
#include "rpcrdma/bytes.hh"

namespace peer
{

enum { NFS_PROGRAM = 100003 };
enum nfs3_proc {
	NFS3_NULL = 0,
	NFS3_GETATTR = 1,
	NFS3_LOOKUP = 3,
	NFS3_READLINK = 5,
	NFS3_READ = 6,
	NFS3_WRITE = 7,
	NFS3_CREATE = 8,
	NFS3_SYMLINK = 10,
	NFS3_REMOVE = 12,
	NFS3_READDIR = 16,
	NFS3_READDIRPLUS = 17,
	NFS3_FSINFO = 19,
};

/* RPC call with AUTH_SYS of root */
Bytes rpc_call(u32 xid, u32 program, u32 version, u32 procedure,
	       const Bytes &arguments = {});
Bytes nfs3_call(u32 xid, nfs3_proc procedure, const Bytes &arguments = {});
inline Bytes null_call(u32 xid)
{
	return nfs3_call(xid, NFS3_NULL);
}

/* Arguments of NFSv3 */
Bytes file_argument(const Bytes &handle);
Bytes lookup_arguments(const Bytes &directory, std::string_view name);
Bytes read_arguments(const Bytes &handle, u64 offset, u32 count);
Bytes create_arguments(const Bytes &directory, std::string_view name);
Bytes symlink_arguments(const Bytes &directory, std::string_view name,
			std::string_view target);
Bytes readdir_arguments(const Bytes &directory, u32 count);
/* Up to and with the length of the data, which is not there */
Bytes write_arguments(const Bytes &handle, u64 offset, u32 count);

/* Operations of NFSv4, and the COMPOUND around them */
Bytes op_putrootfh();
Bytes op_putfh(const Bytes &handle);
Bytes op_getfh();
Bytes op_lookup(std::string_view name);
/* With the anonymous stateid */
Bytes op_read(u64 offset, u32 count);
Bytes op_readlink();
Bytes nfs4_call(u32 xid, const std::vector<Bytes> &operations, u32 minor = 0);

/* An RPC reply that is being read */
class ReplyReader : public rpcrdma::Reader {
    public:
	explicit ReplyReader(const Bytes &reply)
		: Reader(reply.data(), reply.size())
		, reply_(reply)
	{
	}

	/* Throws unless it is MSG_ACCEPTED, for @xid; returns accept_stat. */
	u32 accept_status(u32 xid);
	/* As above, for SUCCESS; returns the NFS status that follows. */
	u32 nfs_status(u32 xid);
	/* Opaque data or a string */
	Bytes opaque();
	void skip_post_op_attributes();
	void skip_wcc_data();

    private:
	const Bytes &reply_;
};

} /* namespace peer */

#endif /* PEER_NFS_HH */
