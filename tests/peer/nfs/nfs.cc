// SPDX-License-Identifier: GPL-2.0-only
/* See nfs.hh. */
#include "nfs/nfs.hh"

#include "failure.hh"

namespace peer
{

Bytes rpc_call(u32 xid, u32 program, u32 version, u32 procedure,
	       const Bytes &arguments)
{
	Bytes call;
	Bytes credential;

	credential.word(0).string("peer").word(0).word(0).word(0);
	call.word(xid).word(RPCRDMA_RPC_CALL).word(2);
	call.word(program).word(version).word(procedure);
	call.word(1).opaque(credential.view()); /* AUTH_SYS */
	call.word(0).word(0); /* AUTH_NONE */
	return call.raw(arguments.view());
}

Bytes nfs3_call(u32 xid, nfs3_proc procedure, const Bytes &arguments)
{
	return rpc_call(xid, NFS_PROGRAM, 3, procedure, arguments);
}

Bytes file_argument(const Bytes &handle)
{
	return Bytes().opaque(handle.view());
}

Bytes lookup_arguments(const Bytes &directory, std::string_view name)
{
	return file_argument(directory).string(name);
}

Bytes read_arguments(const Bytes &handle, u64 offset, u32 count)
{
	return file_argument(handle).hyper(offset).word(count);
}

/* sattr3 with a mode and nothing else */
static void put_attributes(Bytes &to, u32 mode)
{
	to.word(1).word(mode).word(0).word(0).word(0).word(0).word(0);
}

Bytes create_arguments(const Bytes &directory, std::string_view name)
{
	Bytes arguments = lookup_arguments(directory, name);

	arguments.word(0); /* UNCHECKED */
	put_attributes(arguments, 0666);
	return arguments;
}

Bytes symlink_arguments(const Bytes &directory, std::string_view name,
			std::string_view target)
{
	Bytes arguments = lookup_arguments(directory, name);

	put_attributes(arguments, 0777);
	return arguments.string(target);
}

Bytes readdir_arguments(const Bytes &directory, u32 count)
{
	return file_argument(directory).hyper(0).hyper(0).word(count);
}

Bytes write_arguments(const Bytes &handle, u64 offset, u32 count)
{
	/* FILE_SYNC */
	return file_argument(handle).hyper(offset).word(count).word(2).word(
		count);
}

Bytes op_putrootfh()
{
	return Bytes().word(24);
}

Bytes op_putfh(const Bytes &handle)
{
	return Bytes().word(22).opaque(handle.view());
}

Bytes op_getfh()
{
	return Bytes().word(10);
}

Bytes op_lookup(std::string_view name)
{
	return Bytes().word(15).string(name);
}

Bytes op_read(u64 offset, u32 count)
{
	return Bytes().word(25).zeros(16).hyper(offset).word(count);
}

Bytes op_readlink()
{
	return Bytes().word(27);
}

Bytes nfs4_call(u32 xid, const std::vector<Bytes> &operations, u32 minor)
{
	Bytes arguments;

	arguments.string("").word(minor).word(u32(operations.size()));
	for (const Bytes &operation : operations)
		arguments.raw(operation.view());
	return rpc_call(xid, NFS_PROGRAM, 4, 1, arguments);
}

u32 ReplyReader::accept_status(u32 xid)
{
	check_equal(read_u32(), xid, "XID of the RPC reply");
	check_equal(read_u32(), u32(RPCRDMA_RPC_REPLY), "msg_type");
	check_equal(read_u32(), 0u, "reply_stat");
	read_u32();
	skip(rpcrdma::xdr_padded(read_u32()));
	u32 status = read_u32();
	check(!failed(), "the RPC reply is too short");
	return status;
}

u32 ReplyReader::nfs_status(u32 xid)
{
	check_equal(accept_status(xid), 0u, "accept_stat");
	u32 status = read_u32();
	check(!failed(), "the NFS reply is too short");
	return status;
}

Bytes ReplyReader::opaque()
{
	u32 length = read_u32();
	size_t at = position();

	skip(rpcrdma::xdr_padded(length));
	check(!failed(), "the NFS reply is too short");
	return Bytes(reply_.view(at, length));
}

void ReplyReader::skip_post_op_attributes()
{
	if (read_u32())
		skip(84);
}

void ReplyReader::skip_wcc_data()
{
	if (read_u32())
		skip(24);
	skip_post_op_attributes();
}

} /* namespace peer */
