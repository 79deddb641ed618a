// SPDX-License-Identifier: GPL-2.0-only
/* Takes calls apart and puts replies together, as a responder does: RFC 8166 section 4.3. */
#include "failure.hh"
#include "nfs/nfs.hh"
#include "proxy/proxy.hh"

namespace peer
{

Bytes Proxy::pull(const Chunk &chunk)
{
	size_t done = 0;

	for (const rpcrdma_segment &segment : chunk) {
		check(segment.length <= staging_size - done,
		      "a Read chunk that is too long");
		if (!wire_->rdma_read(*staging_, done, segment)) {
			if (impatient && wire_->lost())
				throw Gone();
			fail("an RDMA Read failed");
		}
		done += segment.length;
	}
	return Bytes(staging_->view(0, done));
}

/* RFC 8166 section 3.4.5: chunks at their Positions in the unreduced message */
Call Proxy::open_call(const Message &message)
{
	Call call;
	size_t used = 0;

	call.header = decode(message.bytes.view());
	call.size = message.bytes.size();
	check(call.header.status == RPCRDMA_OK,
	      "the client sent a bad header: ", call.header.status);
	check(call.header.header.credits > 0, "the client asks for 0 credits");
	Bytes base = call.header.payload;

	for (const auto &[position, chunk] : call.header.read) {
		check(chunk.size() <= RPCRDMA_MAX_SEGMENTS_SENT,
		      "a Read chunk of ", chunk.size(), " segments");
		if (!position) {
			base = pull(chunk);
			continue;
		}
		check(position >= call.rpc.size(), "Position ", position);
		size_t gap = position - call.rpc.size();

		call.rpc.raw(base.view(used, gap));
		used += gap;
		check(call.rpc.size() == position, "Position ", position,
		      " beyond the message");
		call.rpc.raw(pull(chunk).view()).pad();
	}
	call.rpc.raw(base.view(used, base.size() - used));
	check(call.rpc.size() >= 24 && call.rpc.word_at(0) == call.xid(),
	      "no RPC call in the message");
	return call;
}

Bytes Proxy::serve(const Call &call)
{
	return nfsd_->call(call.rpc);
}

/* ---- replies ---- */

void Proxy::push(const Chunk &chunk, View bytes)
{
	size_t done = 0;

	staging_->put(0, bytes);
	for (rpcrdma_segment segment : chunk) {
		segment.length = u32(
			rpcrdma::min<u64>(segment.length, bytes.size() - done));
		if (!segment.length)
			break;
		if (!wire_->rdma_write(*staging_, done, segment))
			fail("an RDMA Write failed");
		done += segment.length;
	}
}

struct Item {
	size_t at = 0;
	u32 length = 0;
};

/* RFC 8267 section 4: data of READ, text of READLINK */
static void find_item3(const Call &call, ReplyReader &reader, Item &item)
{
	if (call.procedure() != NFS3_READ && call.procedure() != NFS3_READLINK)
		return;
	if (reader.read_u32())
		return;
	reader.skip_post_op_attributes();
	if (call.procedure() == NFS3_READ)
		reader.skip(8); /* count, eof */
	item.length = reader.read_u32();
	item.at = reader.position();
}

/* Section 6.1: the same in COMPOUNDs as the Linux client makes them */
static void find_item4(ReplyReader &reader, Item &item)
{
	reader.skip(4);
	reader.opaque();
	for (u32 left = reader.read_u32(); left; left--) {
		u32 operation = reader.read_u32();

		if (reader.read_u32())
			return;
		if (operation == 53) { /* SEQUENCE */
			reader.skip(36);
			continue;
		}
		if (operation == 22) /* PUTFH */
			continue;
		if (operation == 25) /* READ: eof */
			reader.skip(4);
		else if (operation != 27) /* READLINK */
			return;
		item.length = reader.read_u32();
		item.at = reader.position();
		return;
	}
}

static Item eligible_item(const Call &call, const Bytes &rpc)
{
	ReplyReader reader(rpc);
	Item item;

	if (call.program() != NFS_PROGRAM || reader.accept_status(call.xid()))
		return item;
	if (call.rpc.word_at(16) == 3)
		find_item3(call, reader, item);
	else
		find_item4(reader, item);
	return reader.failed() ? Item() : item;
}

Bytes spoilt(const Call &call, Bytes rpc)
{
	Item item = eligible_item(call, rpc);

	check(item.length >= RPCRDMA_XDR_UNIT, "nothing to spoil");
	for (size_t at = item.at;
	     at + RPCRDMA_XDR_UNIT <= item.at + item.length;
	     at += RPCRDMA_XDR_UNIT)
		rpc.set_word(at, ~rpc.word_at(at));
	return rpc;
}

Bytes Proxy::build_reply(const Call &call, const Bytes &rpc)
{
	Header header = { .xid = call.xid(), .credits = credits };
	Bytes rest = rpc;

	header.write = call.header.write;
	if (header.write.size() && header.write[0].size()) {
		Item item = eligible_item(call, rpc);

		push(header.write[0], rpc.view(item.at, item.length));
		header.write[0] = written(header.write[0], item.length);
		if (item.length) {
			size_t end = item.at + rpcrdma::xdr_padded(item.length);

			rest = Bytes(rpc.view(0, item.at));
			rest.raw(rpc.view(end, rpc.size() - end));
		}
	}
	if (call.header.reply)
		header.reply = written(*call.header.reply, 0);
	if (header.encode().size() + rest.size() <= threshold_)
		return header.encode(rest.view());
	if (!header.reply || chunk_length(*call.header.reply) < rest.size())
		return encode_error(call.xid(), RPCRDMA_ERR_CHUNK, 1, credits);
	push(*call.header.reply, rest.view());
	header.proc = RPCRDMA_NOMSG;
	header.reply = written(*call.header.reply, u32(rest.size()));
	return header.encode();
}

void Proxy::send(const Bytes &message)
{
	wire_->send(message.view());
}

void Proxy::reply(const Call &call, const Bytes &rpc)
{
	send(build_reply(call, rpc));
}

} /* namespace peer */
