// SPDX-License-Identifier: GPL-2.0
/*
 * Listeners that have lost their device or their address, and what may bring it back.
 *
 * Such a listener tries again by itself, less and less often. A device or an address that
 * turns up is a reason to try at once: ib_core and the network tell of both. Nobody is told
 * of more than that, and whether it helps the try finds out; a device may need a moment
 * until it has the address, so the waits begin anew.
 */
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <net/addrconf.h>

#include "svcrdma.h"

static DEFINE_SPINLOCK(listeners_lock);	/* guards the list; taken in any context */
static LIST_HEAD(listeners);

/**
 * svcrdma_revive_add - a listener wants to know what turns up
 * @li: listener; svcrdma_revive_remove() before it goes
 *
 * Context: process.
 */
void svcrdma_revive_add(struct svcrdma_listener *li)
{
	unsigned long flags;

	spin_lock_irqsave(&listeners_lock, flags);
	list_add_tail(&li->li_list, &listeners);
	spin_unlock_irqrestore(&listeners_lock, flags);
}

/**
 * svcrdma_revive_remove - and does not any more
 * @li: listener, added or not; its work is not queued from here after the return
 *
 * Context: process.
 */
void svcrdma_revive_remove(struct svcrdma_listener *li)
{
	unsigned long flags;

	spin_lock_irqsave(&listeners_lock, flags);
	list_del_init(&li->li_list);
	spin_unlock_irqrestore(&listeners_lock, flags);
}

/**
 * svcrdma_revive_all - a device or an address has turned up
 *
 * Context: any.
 */
void svcrdma_revive_all(void)
{
	struct svcrdma_listener *li;
	unsigned long flags;

	spin_lock_irqsave(&listeners_lock, flags);
	list_for_each_entry(li, &listeners, li_list) {
		if (READ_ONCE(li->li_id))
			continue;
		WRITE_ONCE(li->li_delay, SVCRDMA_REBIND_MIN);
		svcrdma_work_delay(&li->li_work, 0);
	}
	spin_unlock_irqrestore(&listeners_lock, flags);
}

/* rdma_cm was told before: it is older than we are, so it can bind to the device now. */
static int device_added(struct ib_device *device)
{
	svcrdma_revive_all();
	return 0;
}

static struct ib_client client = {
	.name	= "svcrdma",
	.add	= device_added,
};

static int address_event(struct notifier_block *block, unsigned long event, void *data)
{
	if (event == NETDEV_UP)
		svcrdma_revive_all();
	return NOTIFY_DONE;
}

static struct notifier_block inet_block = {
	.notifier_call = address_event,
};

#if IS_ENABLED(CONFIG_IPV6)
static struct notifier_block inet6_block = {
	.notifier_call = address_event,
};
#endif

/**
 * svcrdma_revive_init - begin to hear of devices and addresses
 *
 * Context: process.
 * Return: 0 or a negative errno.
 */
int svcrdma_revive_init(void)
{
	int ret = ib_register_client(&client);

	if (ret)
		return ret;
	register_inetaddr_notifier(&inet_block);
#if IS_ENABLED(CONFIG_IPV6)
	register_inet6addr_notifier(&inet6_block);
#endif
	return 0;
}

/**
 * svcrdma_revive_exit - and hear of no more
 *
 * Context: process; there are no listeners left.
 */
void svcrdma_revive_exit(void)
{
#if IS_ENABLED(CONFIG_IPV6)
	unregister_inet6addr_notifier(&inet6_block);
#endif
	unregister_inetaddr_notifier(&inet_block);
	ib_unregister_client(&client);
}
