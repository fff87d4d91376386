/* SPDX-License-Identifier: MIT */
/* Names for options of sockets by level, mounts, memory policies and perf events. */
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <linux/mount.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <netinet/udp.h>

#include "base/mem.h"
#include "view/trace/names.h"

#define B(x)                                     \
	{                                        \
#		x, (uint64_t)(x), (uint64_t)(x) \
	}
#define V(x)                                  \
	{                                     \
#		x, (uint64_t)(x), UINT64_MAX \
	}

static const struct trace_name ipopt[] = {
	V(IP_TOS),
	V(IP_TTL),
	V(IP_HDRINCL),
	V(IP_OPTIONS),
	V(IP_RECVOPTS),
	V(IP_RETOPTS),
	V(IP_PKTINFO),
	V(IP_PKTOPTIONS),
	V(IP_MTU_DISCOVER),
	V(IP_RECVERR),
	V(IP_RECVTTL),
	V(IP_RECVTOS),
	V(IP_MTU),
	V(IP_FREEBIND),
	V(IP_TRANSPARENT),
	V(IP_MINTTL),
	V(IP_MULTICAST_IF),
	V(IP_MULTICAST_TTL),
	V(IP_MULTICAST_LOOP),
	V(IP_ADD_MEMBERSHIP),
	V(IP_DROP_MEMBERSHIP),
	V(IP_MULTICAST_ALL),
	V(IP_UNICAST_IF),
	V(IP_BIND_ADDRESS_NO_PORT),
};
static const struct trace_name ipv6opt[] = {
	V(IPV6_ADDRFORM),     V(IPV6_CHECKSUM),	      V(IPV6_UNICAST_HOPS),
	V(IPV6_MULTICAST_IF), V(IPV6_MULTICAST_HOPS), V(IPV6_MULTICAST_LOOP),
	V(IPV6_JOIN_GROUP),   V(IPV6_LEAVE_GROUP),    V(IPV6_MTU_DISCOVER),
	V(IPV6_MTU),	      V(IPV6_RECVERR),	      V(IPV6_V6ONLY),
	V(IPV6_RECVPKTINFO),  V(IPV6_PKTINFO),	      V(IPV6_RECVHOPLIMIT),
	V(IPV6_HOPLIMIT),     V(IPV6_RECVTCLASS),     V(IPV6_TCLASS),
	V(IPV6_DONTFRAG),     V(IPV6_TRANSPARENT),    V(IPV6_FREEBIND),
};
static const struct trace_name udpopt[] = {
	V(UDP_CORK),	     V(UDP_ENCAP),   V(UDP_NO_CHECK6_TX),
	V(UDP_NO_CHECK6_RX), V(UDP_SEGMENT), V(UDP_GRO),
};
static const struct trace_name netlinkopt[] = {
	V(NETLINK_ADD_MEMBERSHIP),   V(NETLINK_DROP_MEMBERSHIP), V(NETLINK_PKTINFO),
	V(NETLINK_BROADCAST_ERROR),  V(NETLINK_NO_ENOBUFS),	 V(NETLINK_LISTEN_ALL_NSID),
	V(NETLINK_LIST_MEMBERSHIPS), V(NETLINK_CAP_ACK),	 V(NETLINK_EXT_ACK),
	V(NETLINK_GET_STRICT_CHK),
};

static const struct trace_name fsopen[] = { B(FSOPEN_CLOEXEC) };
static const struct trace_name fsmount[] = { B(FSMOUNT_CLOEXEC) };
static const struct trace_name fspick[] = { B(FSPICK_CLOEXEC), B(FSPICK_SYMLINK_NOFOLLOW),
					    B(FSPICK_NO_AUTOMOUNT), B(FSPICK_EMPTY_PATH) };
static const struct trace_name fsconfig[] = {
	V(FSCONFIG_SET_FLAG),	V(FSCONFIG_SET_STRING),	     V(FSCONFIG_SET_BINARY),
	V(FSCONFIG_SET_PATH),	V(FSCONFIG_SET_PATH_EMPTY),  V(FSCONFIG_SET_FD),
	V(FSCONFIG_CMD_CREATE), V(FSCONFIG_CMD_RECONFIGURE),
};
static const struct trace_name move_mount[] = {
	B(MOVE_MOUNT_F_SYMLINKS), B(MOVE_MOUNT_F_AUTOMOUNTS), B(MOVE_MOUNT_F_EMPTY_PATH),
	B(MOVE_MOUNT_T_SYMLINKS), B(MOVE_MOUNT_T_AUTOMOUNTS), B(MOVE_MOUNT_T_EMPTY_PATH),
};
static const struct trace_name open_tree[] = {
	B(OPEN_TREE_CLONE),
	B(OPEN_TREE_CLOEXEC),
	{ "AT_SYMLINK_NOFOLLOW", 0x100, 0x100 },
	{ "AT_NO_AUTOMOUNT", 0x800, 0x800 },
	{ "AT_EMPTY_PATH", 0x1000, 0x1000 },
	{ "AT_RECURSIVE", 0x8000, 0x8000 },
};
static const struct trace_name mount_attr[] = {
	B(MOUNT_ATTR_RDONLY),	  B(MOUNT_ATTR_NOSUID),	 B(MOUNT_ATTR_NODEV),
	B(MOUNT_ATTR_NOEXEC),	  B(MOUNT_ATTR_NOATIME), B(MOUNT_ATTR_STRICTATIME),
	B(MOUNT_ATTR_NODIRATIME), B(MOUNT_ATTR_IDMAP),
};

/* Modes may have bits beside them. */
#define MODE(x)                                \
	{                                      \
#		x, x, ~0xe000ull & 0xffffffff \
	}
static const struct trace_name mpol[] = {
	MODE(MPOL_DEFAULT),
	MODE(MPOL_PREFERRED),
	MODE(MPOL_BIND),
	MODE(MPOL_INTERLEAVE),
	MODE(MPOL_LOCAL),
	{ "MPOL_PREFERRED_MANY", 5, ~0xe000ull & 0xffffffff },
	{ "MPOL_WEIGHTED_INTERLEAVE", 6, ~0xe000ull & 0xffffffff },
	{ "MPOL_F_NUMA_BALANCING", 1 << 13, 1 << 13 },
	B(MPOL_F_RELATIVE_NODES),
	B(MPOL_F_STATIC_NODES),
};
static const struct trace_name mpol_get[] = { B(MPOL_F_NODE), B(MPOL_F_ADDR),
					      B(MPOL_F_MEMS_ALLOWED) };
static const struct trace_name mbind[] = { B(MPOL_MF_STRICT), B(MPOL_MF_MOVE),
					   B(MPOL_MF_MOVE_ALL) };

static const struct trace_name perf_type[] = {
	V(PERF_TYPE_HARDWARE), V(PERF_TYPE_SOFTWARE), V(PERF_TYPE_TRACEPOINT),
	V(PERF_TYPE_HW_CACHE), V(PERF_TYPE_RAW),      V(PERF_TYPE_BREAKPOINT),
};
static const struct trace_name perf_sample[] = {
	B(PERF_SAMPLE_IP),
	B(PERF_SAMPLE_TID),
	B(PERF_SAMPLE_TIME),
	B(PERF_SAMPLE_ADDR),
	B(PERF_SAMPLE_READ),
	B(PERF_SAMPLE_CALLCHAIN),
	B(PERF_SAMPLE_ID),
	B(PERF_SAMPLE_CPU),
	B(PERF_SAMPLE_PERIOD),
	B(PERF_SAMPLE_STREAM_ID),
	B(PERF_SAMPLE_RAW),
	B(PERF_SAMPLE_BRANCH_STACK),
	B(PERF_SAMPLE_REGS_USER),
	B(PERF_SAMPLE_STACK_USER),
	B(PERF_SAMPLE_WEIGHT),
	B(PERF_SAMPLE_DATA_SRC),
	B(PERF_SAMPLE_IDENTIFIER),
	B(PERF_SAMPLE_TRANSACTION),
	B(PERF_SAMPLE_REGS_INTR),
	B(PERF_SAMPLE_PHYS_ADDR),
	B(PERF_SAMPLE_AUX),
	B(PERF_SAMPLE_CGROUP),
	{ "PERF_SAMPLE_DATA_PAGE_SIZE", 1 << 22, 1 << 22 },
	{ "PERF_SAMPLE_CODE_PAGE_SIZE", 1 << 23, 1 << 23 },
	{ "PERF_SAMPLE_WEIGHT_STRUCT", 1 << 24, 1 << 24 },
};

#define SET(name, list)                      \
	{                                    \
		name, list, ARRAY_SIZE(list) \
	}
const struct trace_names trace_names_system[] = {
	SET("ipopt", ipopt),
	SET("ipv6opt", ipv6opt),
	SET("udpopt", udpopt),
	SET("netlinkopt", netlinkopt),
	SET("fsopen", fsopen),
	SET("fsmount", fsmount),
	SET("fspick", fspick),
	SET("fsconfig", fsconfig),
	SET("move_mount", move_mount),
	SET("open_tree", open_tree),
	SET("mount_attr", mount_attr),
	SET("mpol", mpol),
	SET("mpol_get", mpol_get),
	SET("mbind", mbind),
	SET("perf_type", perf_type),
	SET("perf_sample", perf_sample),
	{ NULL, NULL, 0 },
};
