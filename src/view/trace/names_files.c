/* SPDX-License-Identifier: MIT */
/* Names of what calls about files, memory and descriptors take. */
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/memfd.h>
#include <linux/mount.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <termios.h>
#include <unistd.h>

#include "view/trace/names_table.h"

#if defined(__aarch64__)
#	define LARGE 0400000 /* O_LARGEFILE, which is 0 for programs of 64 bits */
#else
#	define LARGE 0100000
#endif

static const struct trace_name open_flags[] = {
	M(O_RDONLY, O_ACCMODE),
	M(O_WRONLY, O_ACCMODE),
	M(O_RDWR, O_ACCMODE),
	B(O_CREAT),
	B(O_EXCL),
	B(O_NOCTTY),
	B(O_TRUNC),
	B(O_APPEND),
	B(O_NONBLOCK),
	B(O_SYNC),
	B(O_DSYNC),
	B(O_ASYNC),
	B(O_DIRECT),
	B(O_TMPFILE),
	B(O_CLOEXEC),
	B(O_DIRECTORY),
	B(O_NOFOLLOW),
	B(O_NOATIME),
	B(O_PATH),
	{ "O_LARGEFILE", LARGE, LARGE },
};
/* Of calls that make a descriptor without opening a file. */
static const struct trace_name new_flags[] = { B(O_CLOEXEC), B(O_NONBLOCK), B(O_DIRECT),
					       B(O_EXCL) };
static const struct trace_name access_mode[] = { Z(F_OK), B(R_OK), B(W_OK), B(X_OK) };
static const struct trace_name at_flags[] = {
	B(AT_SYMLINK_NOFOLLOW),
	B(AT_SYMLINK_FOLLOW),
	B(AT_NO_AUTOMOUNT),
	B(AT_EMPTY_PATH),
	{ "AT_STATX_FORCE_SYNC", 0x2000, 0x2000 },
	{ "AT_STATX_DONT_SYNC", 0x4000, 0x4000 },
	{ "AT_RECURSIVE", 0x8000, 0x8000 },
};
static const struct trace_name statx_flags[] = {
	{ "AT_STATX_SYNC_AS_STAT", 0, 0x6000 },
	{ "AT_STATX_FORCE_SYNC", 0x2000, 0x6000 },
	{ "AT_STATX_DONT_SYNC", 0x4000, 0x6000 },
	B(AT_SYMLINK_NOFOLLOW),
	B(AT_NO_AUTOMOUNT),
	B(AT_EMPTY_PATH),
};
static const struct trace_name faccessat_flags[] = { B(AT_EACCESS), B(AT_SYMLINK_NOFOLLOW),
						     B(AT_EMPTY_PATH) };
static const struct trace_name unlinkat_flags[] = { B(AT_REMOVEDIR) };
static const struct trace_name whence[] = { V(SEEK_SET), V(SEEK_CUR), V(SEEK_END), V(SEEK_DATA),
					    V(SEEK_HOLE) };
static const struct trace_name prot[] = { Z(PROT_NONE), B(PROT_READ),	   B(PROT_WRITE),
					  B(PROT_EXEC), B(PROT_GROWSDOWN), B(PROT_GROWSUP) };
static const struct trace_name map[] = {
	M(MAP_SHARED, 3), M(MAP_PRIVATE, 3),	  M(MAP_SHARED_VALIDATE, 3),
	B(MAP_FIXED),	  B(MAP_ANONYMOUS),	  { "MAP_32BIT", 0x40, 0x40 },
	B(MAP_GROWSDOWN), B(MAP_DENYWRITE),	  B(MAP_EXECUTABLE),
	B(MAP_LOCKED),	  B(MAP_NORESERVE),	  B(MAP_POPULATE),
	B(MAP_NONBLOCK),  B(MAP_STACK),		  B(MAP_HUGETLB),
	B(MAP_SYNC),	  B(MAP_FIXED_NOREPLACE),
};
static const struct trace_name mremap_flags[] = { B(MREMAP_MAYMOVE),
						  B(MREMAP_FIXED),
						  { "MREMAP_DONTUNMAP", 4, 4 } };
static const struct trace_name msync_flags[] = { B(MS_ASYNC), B(MS_INVALIDATE), B(MS_SYNC) };
static const struct trace_name mlockall_flags[] = { B(MCL_CURRENT), B(MCL_FUTURE), B(MCL_ONFAULT) };
static const struct trace_name advice[] = {
	V(MADV_NORMAL),	       V(MADV_RANDOM),	       V(MADV_SEQUENTIAL), V(MADV_WILLNEED),
	V(MADV_DONTNEED),      V(MADV_FREE),	       V(MADV_REMOVE),	   V(MADV_DONTFORK),
	V(MADV_DOFORK),	       V(MADV_HWPOISON),       V(MADV_MERGEABLE),  V(MADV_UNMERGEABLE),
	V(MADV_HUGEPAGE),      V(MADV_NOHUGEPAGE),     V(MADV_DONTDUMP),   V(MADV_DODUMP),
	V(MADV_WIPEONFORK),    V(MADV_KEEPONFORK),     V(MADV_COLD),	   V(MADV_PAGEOUT),
	V(MADV_POPULATE_READ), V(MADV_POPULATE_WRITE),
};
static const struct trace_name fadvice[] = {
	V(POSIX_FADV_NORMAL),	V(POSIX_FADV_RANDOM),	V(POSIX_FADV_SEQUENTIAL),
	V(POSIX_FADV_WILLNEED), V(POSIX_FADV_DONTNEED), V(POSIX_FADV_NOREUSE),
};
static const struct trace_name flock_op[] = { M(LOCK_SH, 11), M(LOCK_EX, 11), M(LOCK_UN, 11),
					      B(LOCK_NB) };
static const struct trace_name fcntl_cmd[] = {
	V(F_DUPFD),
	V(F_GETFD),
	V(F_SETFD),
	V(F_GETFL),
	V(F_SETFL),
	V(F_GETLK),
	V(F_SETLK),
	V(F_SETLKW),
	V(F_SETOWN),
	V(F_GETOWN),
	V(F_SETSIG),
	V(F_GETSIG),
	V(F_OFD_GETLK),
	V(F_OFD_SETLK),
	V(F_OFD_SETLKW),
	V(F_SETLEASE),
	V(F_GETLEASE),
	V(F_NOTIFY),
	V(F_DUPFD_CLOEXEC),
	V(F_SETPIPE_SZ),
	V(F_GETPIPE_SZ),
	V(F_ADD_SEALS),
	V(F_GET_SEALS),
	V(F_GET_RW_HINT),
	V(F_SET_RW_HINT),
	V(F_SETOWN_EX),
	V(F_GETOWN_EX),
	{ "F_GETLK64", 12, UINT64_MAX },
	{ "F_SETLK64", 13, UINT64_MAX },
	{ "F_SETLKW64", 14, UINT64_MAX },
};
static const struct trace_name fd_flags[] = { B(FD_CLOEXEC) };
static const struct trace_name epoll_create_flags[] = { B(EPOLL_CLOEXEC) };
static const struct trace_name epoll_ctl_op[] = { V(EPOLL_CTL_ADD), V(EPOLL_CTL_DEL),
						  V(EPOLL_CTL_MOD) };
static const struct trace_name epoll_bits[] = {
	B(EPOLLIN),	B(EPOLLPRI),	   B(EPOLLOUT),	   B(EPOLLERR),	    B(EPOLLHUP),
	B(EPOLLRDNORM), B(EPOLLRDBAND),	   B(EPOLLWRNORM), B(EPOLLWRBAND),  B(EPOLLMSG),
	B(EPOLLRDHUP),	B(EPOLLEXCLUSIVE), B(EPOLLWAKEUP), B(EPOLLONESHOT), B(EPOLLET),
};
static const struct trace_name poll_bits[] = {
	B(POLLIN),     B(POLLPRI),    B(POLLOUT),    B(POLLERR),    B(POLLHUP), B(POLLNVAL),
	B(POLLRDNORM), B(POLLRDBAND), B(POLLWRNORM), B(POLLWRBAND), B(POLLMSG), B(POLLRDHUP),
};
static const struct trace_name eventfd_flags[] = { B(EFD_SEMAPHORE), B(EFD_CLOEXEC),
						   B(EFD_NONBLOCK) };
static const struct trace_name inotify_bits[] = {
	B(IN_ACCESS),	   B(IN_MODIFY),     B(IN_ATTRIB),   B(IN_CLOSE_WRITE), B(IN_CLOSE_NOWRITE),
	B(IN_OPEN),	   B(IN_MOVED_FROM), B(IN_MOVED_TO), B(IN_CREATE),	B(IN_DELETE),
	B(IN_DELETE_SELF), B(IN_MOVE_SELF),  B(IN_ONLYDIR),  B(IN_DONT_FOLLOW), B(IN_EXCL_UNLINK),
	B(IN_MASK_CREATE), B(IN_MASK_ADD),   B(IN_ISDIR),    B(IN_ONESHOT),
};
static const struct trace_name splice_flags[] = { B(SPLICE_F_MOVE), B(SPLICE_F_NONBLOCK),
						  B(SPLICE_F_MORE), B(SPLICE_F_GIFT) };
static const struct trace_name fallocate_mode[] = {
	B(FALLOC_FL_KEEP_SIZE),
	B(FALLOC_FL_PUNCH_HOLE),
	{ "FALLOC_FL_COLLAPSE_RANGE", 8, 8 },
	{ "FALLOC_FL_ZERO_RANGE", 16, 16 },
	{ "FALLOC_FL_INSERT_RANGE", 32, 32 },
	{ "FALLOC_FL_UNSHARE_RANGE", 64, 64 },
};
static const struct trace_name rename_flags[] = { { "RENAME_NOREPLACE", 1, 1 },
						  { "RENAME_EXCHANGE", 2, 2 },
						  { "RENAME_WHITEOUT", 4, 4 } };
static const struct trace_name memfd_flags[] = { B(MFD_CLOEXEC),
						 B(MFD_ALLOW_SEALING),
						 B(MFD_HUGETLB),
						 { "MFD_NOEXEC_SEAL", 8, 8 },
						 { "MFD_EXEC", 16, 16 } };
static const struct trace_name rwf[] = { B(RWF_HIPRI), B(RWF_DSYNC), B(RWF_SYNC), B(RWF_NOWAIT),
					 B(RWF_APPEND) };
static const struct trace_name xattr_flags[] = { B(XATTR_CREATE), B(XATTR_REPLACE) };
static const struct trace_name close_range_flags[] = { { "CLOSE_RANGE_UNSHARE", 2, 2 },
						       { "CLOSE_RANGE_CLOEXEC", 4, 4 } };
static const struct trace_name mount_flags[] = {
	B(MS_RDONLY),  B(MS_NOSUID),   B(MS_NODEV),    B(MS_NOEXEC),	  B(MS_SYNCHRONOUS),
	B(MS_REMOUNT), B(MS_MANDLOCK), B(MS_DIRSYNC),  B(MS_NOATIME),	  B(MS_NODIRATIME),
	B(MS_BIND),    B(MS_MOVE),     B(MS_REC),      B(MS_SILENT),	  B(MS_PRIVATE),
	B(MS_SLAVE),   B(MS_SHARED),   B(MS_RELATIME), B(MS_STRICTATIME), B(MS_LAZYTIME),
};
static const struct trace_name umount_flags[] = { { "MNT_FORCE", 1, 1 },
						  { "MNT_DETACH", 2, 2 },
						  { "MNT_EXPIRE", 4, 4 },
						  { "UMOUNT_NOFOLLOW", 8, 8 } };
static const struct trace_name statx_mask[] = {
	{ "STATX_ALL", 0xfff, 0xfff },	{ "STATX_BASIC_STATS", 0x7ff, 0x7ff },
	{ "STATX_TYPE", 1, 1 },		{ "STATX_MODE", 2, 2 },
	{ "STATX_NLINK", 4, 4 },	{ "STATX_UID", 8, 8 },
	{ "STATX_GID", 16, 16 },	{ "STATX_ATIME", 32, 32 },
	{ "STATX_MTIME", 64, 64 },	{ "STATX_CTIME", 128, 128 },
	{ "STATX_INO", 256, 256 },	{ "STATX_SIZE", 512, 512 },
	{ "STATX_BLOCKS", 1024, 1024 }, { "STATX_BTIME", 2048, 2048 },
	{ "STATX_MNT_ID", 4096, 4096 },
};
static const struct trace_name ioctl_cmd[] = {
	V(TCGETS),
	V(TCSETS),
	V(TCSETSW),
	V(TCSETSF),
	V(TCSBRK),
	V(TCXONC),
	V(TCFLSH),
	V(TIOCEXCL),
	V(TIOCSCTTY),
	V(TIOCGPGRP),
	V(TIOCSPGRP),
	V(TIOCOUTQ),
	V(TIOCSTI),
	V(TIOCGWINSZ),
	V(TIOCSWINSZ),
	V(TIOCMGET),
	V(TIOCGPTN),
	V(TIOCSPTLCK),
	V(TIOCGPTPEER),
	V(TIOCNOTTY),
	V(FIONREAD),
	V(FIONBIO),
	V(FIONCLEX),
	V(FIOCLEX),
	V(FIOASYNC),
	V(FICLONE),
	V(FICLONERANGE),
	V(FIBMAP),
	V(FIGETBSZ),
	V(FIFREEZE),
	V(FITHAW),
	V(FITRIM),
	V(BLKGETSIZE64),
	V(BLKSSZGET),
	V(BLKFLSBUF),
	V(BLKDISCARD),
	V(BLKROGET),
	V(FS_IOC_GETFLAGS),
	V(FS_IOC_SETFLAGS),
	V(FS_IOC_FIEMAP),
	V(FS_IOC_GETVERSION),
	{ "SIOCGIFNAME", 0x8910, UINT64_MAX },
	{ "SIOCGIFCONF", 0x8912, UINT64_MAX },
	{ "SIOCGIFFLAGS", 0x8913, UINT64_MAX },
	{ "SIOCSIFFLAGS", 0x8914, UINT64_MAX },
	{ "SIOCGIFADDR", 0x8915, UINT64_MAX },
	{ "SIOCGIFMTU", 0x8921, UINT64_MAX },
	{ "SIOCGIFHWADDR", 0x8927, UINT64_MAX },
	{ "SIOCGIFINDEX", 0x8933, UINT64_MAX },
	{ "SIOCETHTOOL", 0x8946, UINT64_MAX },
	{ "PERF_EVENT_IOC_ENABLE", 0x2400, UINT64_MAX },
	{ "PERF_EVENT_IOC_DISABLE", 0x2401, UINT64_MAX },
	{ "PERF_EVENT_IOC_RESET", 0x2403, UINT64_MAX },
	{ "PERF_EVENT_IOC_ID", 0x80082407, UINT64_MAX },
	{ "PERF_EVENT_IOC_SET_BPF", 0x40042408, UINT64_MAX },
	{ "KVM_GET_API_VERSION", 0xae00, UINT64_MAX },
	{ "KVM_CREATE_VM", 0xae01, UINT64_MAX },
	{ "KVM_CREATE_VCPU", 0xae41, UINT64_MAX },
	{ "KVM_RUN", 0xae80, UINT64_MAX },
	{ "NS_GET_USERNS", 0xb701, UINT64_MAX },
	{ "NS_GET_PARENT", 0xb702, UINT64_MAX },
};

const struct trace_names trace_names_files[] = {
	SET("open", open_flags),
	SET("new", new_flags),
	SET("access", access_mode),
	SET("at", at_flags),
	SET("faccessat", faccessat_flags),
	SET("statx_at", statx_flags),
	SET("unlinkat", unlinkat_flags),
	SET("whence", whence),
	SET("prot", prot),
	SET("map", map),
	SET("mremap", mremap_flags),
	SET("msync", msync_flags),
	SET("mlockall", mlockall_flags),
	SET("madvise", advice),
	SET("fadvise", fadvice),
	SET("flock", flock_op),
	SET("fcntl", fcntl_cmd),
	SET("fdflags", fd_flags),
	SET("epoll_create", epoll_create_flags),
	SET("epoll_ctl", epoll_ctl_op),
	SET("epoll", epoll_bits),
	SET("poll", poll_bits),
	SET("eventfd", eventfd_flags),
	SET("inotify", inotify_bits),
	SET("splice", splice_flags),
	SET("fallocate", fallocate_mode),
	SET("rename", rename_flags),
	SET("memfd", memfd_flags),
	SET("rwf", rwf),
	SET("xattr", xattr_flags),
	SET("close_range", close_range_flags),
	SET("mount", mount_flags),
	SET("umount", umount_flags),
	SET("statx", statx_mask),
	SET("ioctl", ioctl_cmd),
	{ NULL, NULL, 0 },
};
