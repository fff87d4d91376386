/* SPDX-License-Identifier: MIT */
/* Names of what calls about processes, signals, time and sockets take. */
#include <linux/bpf.h>
#include <linux/futex.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#include "view/trace/names_table.h"

static const struct trace_name sighow[] = { V(SIG_BLOCK), V(SIG_UNBLOCK), V(SIG_SETMASK) };
static const struct trace_name sa_flags[] = {
	{ "SA_RESTORER", 0x04000000, 0x04000000 },
	B(SA_ONSTACK),
	B(SA_RESTART),
	B(SA_NOCLDSTOP),
	B(SA_NOCLDWAIT),
	B(SA_NODEFER),
	{ "SA_RESETHAND", 0x80000000, 0x80000000 },
	B(SA_SIGINFO),
};
static const struct trace_name itimer[] = { V(ITIMER_REAL), V(ITIMER_VIRTUAL), V(ITIMER_PROF) };
static const struct trace_name timer_flags[] = { B(TIMER_ABSTIME) };
static const struct trace_name clocks[] = {
	V(CLOCK_REALTIME),	    V(CLOCK_MONOTONIC),	    V(CLOCK_PROCESS_CPUTIME_ID),
	V(CLOCK_THREAD_CPUTIME_ID), V(CLOCK_MONOTONIC_RAW), V(CLOCK_REALTIME_COARSE),
	V(CLOCK_MONOTONIC_COARSE),  V(CLOCK_BOOTTIME),	    V(CLOCK_REALTIME_ALARM),
	V(CLOCK_BOOTTIME_ALARM),    V(CLOCK_TAI),
};
static const struct trace_name family[] = {
	V(AF_UNSPEC),  V(AF_UNIX),   V(AF_INET), V(AF_AX25),	  V(AF_IPX), V(AF_INET6),
	V(AF_NETLINK), V(AF_PACKET), V(AF_TIPC), V(AF_BLUETOOTH), V(AF_ALG), V(AF_NFC),
	V(AF_VSOCK),   V(AF_XDP),    V(AF_CAN),	 V(AF_KEY),
};
static const struct trace_name socktype[] = {
	M(SOCK_STREAM, 15),    M(SOCK_DGRAM, 15),  M(SOCK_RAW, 15), M(SOCK_RDM, 15),
	M(SOCK_SEQPACKET, 15), M(SOCK_PACKET, 15), B(SOCK_CLOEXEC), B(SOCK_NONBLOCK),
};
static const struct trace_name protocol[] = {
	V(IPPROTO_IP),	 V(IPPROTO_ICMP), V(IPPROTO_TCP),
	V(IPPROTO_UDP),	 V(IPPROTO_IPV6), V(IPPROTO_ICMPV6),
	V(IPPROTO_SCTP), V(IPPROTO_RAW),  { "IPPROTO_MPTCP", 262, UINT64_MAX },
};
static const struct trace_name msg_flags[] = {
	B(MSG_OOB),	 B(MSG_PEEK),	      B(MSG_DONTROUTE),
	B(MSG_CTRUNC),	 B(MSG_PROXY),	      B(MSG_TRUNC),
	B(MSG_DONTWAIT), B(MSG_EOR),	      B(MSG_WAITALL),
	B(MSG_FIN),	 B(MSG_SYN),	      B(MSG_CONFIRM),
	B(MSG_RST),	 B(MSG_ERRQUEUE),     B(MSG_NOSIGNAL),
	B(MSG_MORE),	 B(MSG_WAITFORONE),   { "MSG_ZEROCOPY", 0x4000000, 0x4000000 },
	B(MSG_FASTOPEN), B(MSG_CMSG_CLOEXEC),
};
static const struct trace_name shutdown_how[] = { V(SHUT_RD), V(SHUT_WR), V(SHUT_RDWR) };
static const struct trace_name sockopt_level[] = {
	V(SOL_SOCKET), V(SOL_IP),      V(SOL_TCP), V(SOL_IPV6), { "SOL_UDP", 17, UINT64_MAX },
	V(SOL_PACKET), V(SOL_NETLINK), V(SOL_RAW),
};
static const struct trace_name sockopt[] = {
	V(SO_DEBUG),	     V(SO_REUSEADDR),	  V(SO_TYPE),	      V(SO_ERROR),
	V(SO_DONTROUTE),     V(SO_BROADCAST),	  V(SO_SNDBUF),	      V(SO_RCVBUF),
	V(SO_KEEPALIVE),     V(SO_OOBINLINE),	  V(SO_PRIORITY),     V(SO_LINGER),
	V(SO_REUSEPORT),     V(SO_PASSCRED),	  V(SO_PEERCRED),     V(SO_RCVLOWAT),
	V(SO_SNDLOWAT),	     V(SO_RCVTIMEO),	  V(SO_SNDTIMEO),     V(SO_BINDTODEVICE),
	V(SO_ATTACH_FILTER), V(SO_DETACH_FILTER), V(SO_PEERNAME),     V(SO_TIMESTAMP),
	V(SO_ACCEPTCONN),    V(SO_PEERSEC),	  V(SO_SNDBUFFORCE),  V(SO_RCVBUFFORCE),
	V(SO_PASSSEC),	     V(SO_TIMESTAMPNS),	  V(SO_MARK),	      V(SO_TIMESTAMPING),
	V(SO_PROTOCOL),	     V(SO_DOMAIN),	  V(SO_RXQ_OVFL),     V(SO_PEEK_OFF),
	V(SO_LOCK_FILTER),   V(SO_BUSY_POLL),	  V(SO_INCOMING_CPU), V(SO_ATTACH_BPF),
	V(SO_ZEROCOPY),	     V(SO_TXTIME),	  V(SO_PEERGROUPS),   V(SO_COOKIE),
};
static const struct trace_name tcpopt[] = {
	V(TCP_NODELAY),	     V(TCP_MAXSEG),	  V(TCP_CORK),	   V(TCP_KEEPIDLE),
	V(TCP_KEEPINTVL),    V(TCP_KEEPCNT),	  V(TCP_SYNCNT),   V(TCP_LINGER2),
	V(TCP_DEFER_ACCEPT), V(TCP_WINDOW_CLAMP), V(TCP_INFO),	   V(TCP_QUICKACK),
	V(TCP_CONGESTION),   V(TCP_USER_TIMEOUT), V(TCP_FASTOPEN), V(TCP_ULP),
};
static const struct trace_name clone_flags[] = {
	B(CLONE_VM),
	B(CLONE_FS),
	B(CLONE_FILES),
	B(CLONE_SIGHAND),
	B(CLONE_PIDFD),
	B(CLONE_PTRACE),
	B(CLONE_VFORK),
	B(CLONE_PARENT),
	B(CLONE_THREAD),
	B(CLONE_NEWNS),
	B(CLONE_SYSVSEM),
	B(CLONE_SETTLS),
	B(CLONE_PARENT_SETTID),
	B(CLONE_CHILD_CLEARTID),
	B(CLONE_DETACHED),
	B(CLONE_UNTRACED),
	B(CLONE_CHILD_SETTID),
	B(CLONE_NEWCGROUP),
	B(CLONE_NEWUTS),
	B(CLONE_NEWIPC),
	B(CLONE_NEWUSER),
	B(CLONE_NEWPID),
	B(CLONE_NEWNET),
	B(CLONE_IO),
	{ "CLONE_CLEAR_SIGHAND", 0x100000000ull, 0x100000000ull },
	{ "CLONE_INTO_CGROUP", 0x200000000ull, 0x200000000ull },
	{ "SIGCHLD", SIGCHLD, 0xff },
};
static const struct trace_name wait_options[] = {
	B(WNOHANG), B(WUNTRACED),   B(WEXITED), B(WCONTINUED),
	B(WNOWAIT), B(__WNOTHREAD), B(__WALL),	B(__WCLONE),
};
static const struct trace_name waitid_which[] = { V(P_ALL), V(P_PID), V(P_PGID), V(P_PIDFD) };
static const struct trace_name rlimits[] = {
	V(RLIMIT_CPU),	    V(RLIMIT_FSIZE), V(RLIMIT_DATA),   V(RLIMIT_STACK),
	V(RLIMIT_CORE),	    V(RLIMIT_RSS),   V(RLIMIT_NPROC),  V(RLIMIT_NOFILE),
	V(RLIMIT_MEMLOCK),  V(RLIMIT_AS),    V(RLIMIT_LOCKS),  V(RLIMIT_SIGPENDING),
	V(RLIMIT_MSGQUEUE), V(RLIMIT_NICE),  V(RLIMIT_RTPRIO), V(RLIMIT_RTTIME),
};
static const struct trace_name rusage_who[] = {
	V(RUSAGE_SELF),
	{ "RUSAGE_CHILDREN", 0xffffffff, UINT64_MAX },
	V(RUSAGE_THREAD),
};
static const struct trace_name prio[] = { V(PRIO_PROCESS), V(PRIO_PGRP), V(PRIO_USER) };
static const struct trace_name sched_policy[] = {
	V(SCHED_OTHER), V(SCHED_FIFO), V(SCHED_RR),
	V(SCHED_BATCH), V(SCHED_IDLE), V(SCHED_DEADLINE),
};
static const struct trace_name futex_op[] = {
	M(FUTEX_WAIT, FUTEX_CMD_MASK),
	M(FUTEX_WAKE, FUTEX_CMD_MASK),
	M(FUTEX_FD, FUTEX_CMD_MASK),
	M(FUTEX_REQUEUE, FUTEX_CMD_MASK),
	M(FUTEX_CMP_REQUEUE, FUTEX_CMD_MASK),
	M(FUTEX_WAKE_OP, FUTEX_CMD_MASK),
	M(FUTEX_LOCK_PI, FUTEX_CMD_MASK),
	M(FUTEX_UNLOCK_PI, FUTEX_CMD_MASK),
	M(FUTEX_TRYLOCK_PI, FUTEX_CMD_MASK),
	M(FUTEX_WAIT_BITSET, FUTEX_CMD_MASK),
	M(FUTEX_WAKE_BITSET, FUTEX_CMD_MASK),
	M(FUTEX_WAIT_REQUEUE_PI, FUTEX_CMD_MASK),
	M(FUTEX_CMP_REQUEUE_PI, FUTEX_CMD_MASK),
	M(FUTEX_LOCK_PI2, FUTEX_CMD_MASK),
	B(FUTEX_CLOCK_REALTIME),
};
static const struct trace_name prctl_option[] = {
	V(PR_SET_PDEATHSIG),
	V(PR_GET_PDEATHSIG),
	V(PR_GET_DUMPABLE),
	V(PR_SET_DUMPABLE),
	V(PR_GET_KEEPCAPS),
	V(PR_SET_KEEPCAPS),
	V(PR_SET_NAME),
	V(PR_GET_NAME),
	V(PR_GET_SECCOMP),
	V(PR_SET_SECCOMP),
	V(PR_CAPBSET_READ),
	V(PR_CAPBSET_DROP),
	V(PR_GET_SECUREBITS),
	V(PR_SET_SECUREBITS),
	V(PR_SET_TIMERSLACK),
	V(PR_GET_TIMERSLACK),
	V(PR_SET_MM),
	V(PR_SET_CHILD_SUBREAPER),
	V(PR_GET_CHILD_SUBREAPER),
	V(PR_SET_NO_NEW_PRIVS),
	V(PR_GET_NO_NEW_PRIVS),
	V(PR_GET_TID_ADDRESS),
	V(PR_SET_THP_DISABLE),
	V(PR_GET_THP_DISABLE),
	V(PR_CAP_AMBIENT),
	V(PR_GET_SPECULATION_CTRL),
	V(PR_SET_SPECULATION_CTRL),
	V(PR_SET_VMA),
	V(PR_SET_PTRACER),
};
static const struct trace_name arch_prctl_option[] = {
	{ "ARCH_SET_GS", 0x1001, UINT64_MAX },	   { "ARCH_SET_FS", 0x1002, UINT64_MAX },
	{ "ARCH_GET_FS", 0x1003, UINT64_MAX },	   { "ARCH_GET_GS", 0x1004, UINT64_MAX },
	{ "ARCH_GET_CPUID", 0x1011, UINT64_MAX },  { "ARCH_SET_CPUID", 0x1012, UINT64_MAX },
	{ "ARCH_CET_STATUS", 0x3001, UINT64_MAX },
};
static const struct trace_name ptrace_request[] = {
	V(PTRACE_TRACEME),    V(PTRACE_PEEKTEXT),   V(PTRACE_PEEKDATA),	   V(PTRACE_PEEKUSER),
	V(PTRACE_POKETEXT),   V(PTRACE_POKEDATA),   V(PTRACE_POKEUSER),	   V(PTRACE_CONT),
	V(PTRACE_KILL),	      V(PTRACE_SINGLESTEP), V(PTRACE_ATTACH),	   V(PTRACE_DETACH),
	V(PTRACE_SYSCALL),    V(PTRACE_SETOPTIONS), V(PTRACE_GETEVENTMSG), V(PTRACE_GETSIGINFO),
	V(PTRACE_SETSIGINFO), V(PTRACE_GETREGSET),  V(PTRACE_SETREGSET),   V(PTRACE_SEIZE),
	V(PTRACE_INTERRUPT),  V(PTRACE_LISTEN),	    V(PTRACE_GETSIGMASK),  V(PTRACE_SETSIGMASK),
};
static const struct trace_name ipcget[] = { B(IPC_CREAT), B(IPC_EXCL), B(IPC_NOWAIT) };
static const struct trace_name ipcctl[] = {
	V(IPC_RMID), V(IPC_SET), V(IPC_STAT), { "IPC_INFO", 3, UINT64_MAX },
	V(GETPID),   V(GETVAL),	 V(GETALL),   V(GETNCNT),
	V(GETZCNT),  V(SETVAL),	 V(SETALL)
};
static const struct trace_name shmat_flags[] = { B(SHM_RDONLY), B(SHM_RND), B(SHM_REMAP) };
static const struct trace_name getrandom_flags[] = { B(GRND_NONBLOCK),
						     B(GRND_RANDOM),
						     { "GRND_INSECURE", 4, 4 } };
static const struct trace_name perf_open_flags[] = { { "PERF_FLAG_FD_NO_GROUP", 1, 1 },
						     { "PERF_FLAG_FD_OUTPUT", 2, 2 },
						     { "PERF_FLAG_PID_CGROUP", 4, 4 },
						     { "PERF_FLAG_FD_CLOEXEC", 8, 8 } };
static const struct trace_name bpf_cmd[] = {
	V(BPF_MAP_CREATE),	 V(BPF_MAP_LOOKUP_ELEM),
	V(BPF_MAP_UPDATE_ELEM),	 V(BPF_MAP_DELETE_ELEM),
	V(BPF_MAP_GET_NEXT_KEY), V(BPF_PROG_LOAD),
	V(BPF_OBJ_PIN),		 V(BPF_OBJ_GET),
	V(BPF_PROG_ATTACH),	 V(BPF_PROG_DETACH),
	V(BPF_PROG_TEST_RUN),	 V(BPF_PROG_GET_NEXT_ID),
	V(BPF_MAP_GET_NEXT_ID),	 V(BPF_PROG_GET_FD_BY_ID),
	V(BPF_MAP_GET_FD_BY_ID), V(BPF_OBJ_GET_INFO_BY_FD),
	V(BPF_PROG_QUERY),	 V(BPF_RAW_TRACEPOINT_OPEN),
	V(BPF_BTF_LOAD),	 V(BPF_BTF_GET_FD_BY_ID),
	V(BPF_TASK_FD_QUERY),	 V(BPF_MAP_LOOKUP_AND_DELETE_ELEM),
	V(BPF_MAP_FREEZE),	 V(BPF_BTF_GET_NEXT_ID),
	V(BPF_MAP_LOOKUP_BATCH), V(BPF_LINK_CREATE),
	V(BPF_LINK_UPDATE),	 V(BPF_ENABLE_STATS),
	V(BPF_ITER_CREATE),	 V(BPF_LINK_DETACH),
	V(BPF_PROG_BIND_MAP),
};

const struct trace_names trace_names_other[] = {
	SET("sighow", sighow),
	SET("sa_flags", sa_flags),
	SET("itimer", itimer),
	SET("timer", timer_flags),
	SET("clock", clocks),
	SET("family", family),
	SET("socktype", socktype),
	SET("protocol", protocol),
	SET("msg", msg_flags),
	SET("shutdown", shutdown_how),
	SET("sockopt_level", sockopt_level),
	SET("sockopt", sockopt),
	SET("tcpopt", tcpopt),
	SET("clone", clone_flags),
	SET("wait", wait_options),
	SET("waitid", waitid_which),
	SET("rlimit", rlimits),
	SET("rusage", rusage_who),
	SET("prio", prio),
	SET("sched", sched_policy),
	SET("futex", futex_op),
	SET("prctl", prctl_option),
	SET("arch_prctl", arch_prctl_option),
	SET("ptrace", ptrace_request),
	SET("ipcget", ipcget),
	SET("ipcctl", ipcctl),
	SET("shmat", shmat_flags),
	SET("getrandom", getrandom_flags),
	SET("perf_open", perf_open_flags),
	SET("bpf", bpf_cmd),
	{ NULL, NULL, 0 },
};
