/* SPDX-License-Identifier: MIT */
/* Names for arguments whose meaning hangs on another one, and for fields of structs. */
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/membarrier.h>
#include <linux/netlink.h>
#include <linux/openat2.h>
#include <net/if.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

#include "view/trace/names_table.h"

static const struct trace_name sfd[] = { B(SFD_CLOEXEC), B(SFD_NONBLOCK) };
static const struct trace_name tfd[] = { B(TFD_CLOEXEC), B(TFD_NONBLOCK) };
static const struct trace_name tfd_set[] = { B(TFD_TIMER_ABSTIME), B(TFD_TIMER_CANCEL_ON_SET) };
static const struct trace_name in_new[] = { B(IN_CLOEXEC), B(IN_NONBLOCK) };
static const struct trace_name sync_range[] = { B(SYNC_FILE_RANGE_WAIT_BEFORE),
						B(SYNC_FILE_RANGE_WRITE),
						B(SYNC_FILE_RANGE_WAIT_AFTER) };
static const struct trace_name resolve[] = { B(RESOLVE_NO_XDEV),     B(RESOLVE_NO_MAGICLINKS),
					     B(RESOLVE_NO_SYMLINKS), B(RESOLVE_BENEATH),
					     B(RESOLVE_IN_ROOT),     B(RESOLVE_CACHED) };
static const struct trace_name seals[] = {
	{ "F_SEAL_SEAL", 1, 1 },  { "F_SEAL_SHRINK", 2, 2 },	     { "F_SEAL_GROW", 4, 4 },
	{ "F_SEAL_WRITE", 8, 8 }, { "F_SEAL_FUTURE_WRITE", 16, 16 },
};
static const struct trace_name lock_type[] = { V(F_RDLCK), V(F_WRLCK), V(F_UNLCK) };
static const struct trace_name sigev[] = {
	V(SIGEV_SIGNAL), V(SIGEV_NONE), V(SIGEV_THREAD), { "SIGEV_THREAD_ID", 4, UINT64_MAX }
};
static const struct trace_name sem_flg[] = { B(SEM_UNDO), B(IPC_NOWAIT) };
static const struct trace_name cld[] = { V(CLD_EXITED),	 V(CLD_KILLED),	 V(CLD_DUMPED),
					 V(CLD_TRAPPED), V(CLD_STOPPED), V(CLD_CONTINUED) };
static const struct trace_name si_code[] = {
	{ "SI_USER", 0, UINT64_MAX },
	{ "SI_KERNEL", 0x80, UINT64_MAX },
	{ "SI_QUEUE", UINT32_MAX, UINT64_MAX },
	{ "SI_TIMER", UINT32_MAX - 1, UINT64_MAX },
	{ "SI_MESGQ", UINT32_MAX - 2, UINT64_MAX },
	{ "SI_ASYNCIO", UINT32_MAX - 3, UINT64_MAX },
	{ "SI_SIGIO", UINT32_MAX - 4, UINT64_MAX },
	{ "SI_TKILL", UINT32_MAX - 5, UINT64_MAX },
};
static const struct trace_name netlink[] = {
	V(NETLINK_ROUTE),     V(NETLINK_USERSOCK),	V(NETLINK_SOCK_DIAG),
	V(NETLINK_XFRM),      V(NETLINK_SELINUX),	V(NETLINK_AUDIT),
	V(NETLINK_CONNECTOR), V(NETLINK_NETFILTER),	V(NETLINK_KOBJECT_UEVENT),
	V(NETLINK_GENERIC),   V(NETLINK_SCSITRANSPORT), V(NETLINK_CRYPTO),
};
static const struct trace_name kcmp_type[] = {
	{ "KCMP_FILE", 0, UINT64_MAX },	   { "KCMP_VM", 1, UINT64_MAX },
	{ "KCMP_FILES", 2, UINT64_MAX },   { "KCMP_FS", 3, UINT64_MAX },
	{ "KCMP_SIGHAND", 4, UINT64_MAX }, { "KCMP_IO", 5, UINT64_MAX },
	{ "KCMP_SYSVSEM", 6, UINT64_MAX }, { "KCMP_EPOLL_TFD", 7, UINT64_MAX },
};
static const struct trace_name membarrier_cmd[] = {
	V(MEMBARRIER_CMD_QUERY),
	V(MEMBARRIER_CMD_GLOBAL),
	V(MEMBARRIER_CMD_GLOBAL_EXPEDITED),
	V(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED),
	V(MEMBARRIER_CMD_PRIVATE_EXPEDITED),
	V(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED),
	V(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE),
	V(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE),
	{ "MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ", 128, UINT64_MAX },
	{ "MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ", 256, UINT64_MAX },
};
static const struct trace_name socketcall[] = {
	{ "SYS_SOCKET", 1, UINT64_MAX },      { "SYS_BIND", 2, UINT64_MAX },
	{ "SYS_CONNECT", 3, UINT64_MAX },     { "SYS_LISTEN", 4, UINT64_MAX },
	{ "SYS_ACCEPT", 5, UINT64_MAX },      { "SYS_GETSOCKNAME", 6, UINT64_MAX },
	{ "SYS_GETPEERNAME", 7, UINT64_MAX }, { "SYS_SOCKETPAIR", 8, UINT64_MAX },
	{ "SYS_SEND", 9, UINT64_MAX },	      { "SYS_RECV", 10, UINT64_MAX },
	{ "SYS_SENDTO", 11, UINT64_MAX },     { "SYS_RECVFROM", 12, UINT64_MAX },
	{ "SYS_SHUTDOWN", 13, UINT64_MAX },   { "SYS_SETSOCKOPT", 14, UINT64_MAX },
	{ "SYS_GETSOCKOPT", 15, UINT64_MAX }, { "SYS_SENDMSG", 16, UINT64_MAX },
	{ "SYS_RECVMSG", 17, UINT64_MAX },    { "SYS_ACCEPT4", 18, UINT64_MAX },
	{ "SYS_RECVMMSG", 19, UINT64_MAX },   { "SYS_SENDMMSG", 20, UINT64_MAX },
};
static const struct trace_name ipc_call[] = {
	{ "SEMOP", 1, UINT64_MAX },	 { "SEMGET", 2, UINT64_MAX },  { "SEMCTL", 3, UINT64_MAX },
	{ "SEMTIMEDOP", 4, UINT64_MAX }, { "MSGSND", 11, UINT64_MAX }, { "MSGRCV", 12, UINT64_MAX },
	{ "MSGGET", 13, UINT64_MAX },	 { "MSGCTL", 14, UINT64_MAX }, { "SHMAT", 21, UINT64_MAX },
	{ "SHMDT", 22, UINT64_MAX },	 { "SHMGET", 23, UINT64_MAX }, { "SHMCTL", 24, UINT64_MAX },
};
static const struct trace_name scm[] = { V(SCM_RIGHTS), V(SCM_CREDENTIALS) };
static const struct trace_name iff[] = {
	B(IFF_UP),	   B(IFF_BROADCAST), B(IFF_DEBUG),     B(IFF_LOOPBACK), B(IFF_POINTOPOINT),
	B(IFF_NOTRAILERS), B(IFF_RUNNING),   B(IFF_NOARP),     B(IFF_PROMISC),	B(IFF_ALLMULTI),
	B(IFF_MASTER),	   B(IFF_SLAVE),     B(IFF_MULTICAST),
};
static const struct trace_name fs_magic[] = {
	{ "EXT2_SUPER_MAGIC", 0xef53, UINT64_MAX },
	V(TMPFS_MAGIC),
	V(PROC_SUPER_MAGIC),
	V(SYSFS_MAGIC),
	V(DEBUGFS_MAGIC),
	V(TRACEFS_MAGIC),
	V(CGROUP_SUPER_MAGIC),
	V(CGROUP2_SUPER_MAGIC),
	V(BTRFS_SUPER_MAGIC),
	V(NFS_SUPER_MAGIC),
	V(OVERLAYFS_SUPER_MAGIC),
	V(RAMFS_MAGIC),
	V(SQUASHFS_MAGIC),
	V(MSDOS_SUPER_MAGIC),
	V(ISOFS_SUPER_MAGIC),
	V(HUGETLBFS_MAGIC),
	V(DEVPTS_SUPER_MAGIC),
	V(SECURITYFS_MAGIC),
	V(BPF_FS_MAGIC),
	V(FUSE_SUPER_MAGIC),
	V(F2FS_SUPER_MAGIC),
	{ "XFS_SUPER_MAGIC", 0x58465342, UINT64_MAX },
	{ "PIPEFS_MAGIC", 0x50495045, UINT64_MAX },
	{ "SOCKFS_MAGIC", 0x534f434b, UINT64_MAX },
	{ "ANON_INODE_FS_MAGIC", 0x09041934, UINT64_MAX },
	{ "NSFS_MAGIC", 0x6e736673, UINT64_MAX },
};
static const struct trace_name cap[] = {
	V(CAP_CHOWN),
	V(CAP_DAC_OVERRIDE),
	V(CAP_DAC_READ_SEARCH),
	V(CAP_FOWNER),
	V(CAP_FSETID),
	V(CAP_KILL),
	V(CAP_SETGID),
	V(CAP_SETUID),
	V(CAP_SETPCAP),
	V(CAP_LINUX_IMMUTABLE),
	V(CAP_NET_BIND_SERVICE),
	V(CAP_NET_BROADCAST),
	V(CAP_NET_ADMIN),
	V(CAP_NET_RAW),
	V(CAP_IPC_LOCK),
	V(CAP_IPC_OWNER),
	V(CAP_SYS_MODULE),
	V(CAP_SYS_RAWIO),
	V(CAP_SYS_CHROOT),
	V(CAP_SYS_PTRACE),
	V(CAP_SYS_PACCT),
	V(CAP_SYS_ADMIN),
	V(CAP_SYS_BOOT),
	V(CAP_SYS_NICE),
	V(CAP_SYS_RESOURCE),
	V(CAP_SYS_TIME),
	V(CAP_SYS_TTY_CONFIG),
	V(CAP_MKNOD),
	V(CAP_LEASE),
	V(CAP_AUDIT_WRITE),
	V(CAP_AUDIT_CONTROL),
	V(CAP_SETFCAP),
	V(CAP_MAC_OVERRIDE),
	V(CAP_MAC_ADMIN),
	V(CAP_SYSLOG),
	V(CAP_WAKE_ALARM),
	V(CAP_BLOCK_SUSPEND),
	V(CAP_AUDIT_READ),
	{ "CAP_PERFMON", 38, UINT64_MAX },
	{ "CAP_BPF", 39, UINT64_MAX },
	{ "CAP_CHECKPOINT_RESTORE", 40, UINT64_MAX },
};

const struct trace_names trace_names_more[] = {
	SET("sfd", sfd),
	SET("tfd", tfd),
	SET("tfd_set", tfd_set),
	SET("in_new", in_new),
	SET("sync_range", sync_range),
	SET("resolve", resolve),
	SET("seals", seals),
	SET("lock_type", lock_type),
	SET("sigev", sigev),
	SET("sem_flg", sem_flg),
	SET("cld", cld),
	SET("si_code", si_code),
	SET("netlink", netlink),
	SET("kcmp", kcmp_type),
	SET("membarrier", membarrier_cmd),
	SET("scm", scm),
	SET("socketcall", socketcall),
	SET("ipc", ipc_call),
	SET("iff", iff),
	SET("fs_magic", fs_magic),
	SET("cap", cap),
	{ NULL, NULL, 0 },
};
