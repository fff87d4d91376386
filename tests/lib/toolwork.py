# SPDX-License-Identifier: MIT
"""What the tests of the tools let them watch: waits for a line on standard input, then does one of each thing.

toolwork.py DIR NAME: DIR is for its files, NAME becomes its command's name. Prints as JSON what it knows about what it did.
"""
import ctypes
import fcntl
import json
import mmap
import os
import socket
import struct
import subprocess
import sys
import threading
import time

DIR, NAME = sys.argv[1:]
SIZE = 1 << 20
ROUNDS = 5  # while others attach to its tracepoints or leave them, the kernel may not tell of some I/O
libc = ctypes.CDLL(None, use_errno=True)
known = {"pid": os.getpid()}


def kept(f):
    """A part that the machine may not allow: what it gave, or why not."""
    try:
        known[f.__name__] = f()
    except OSError as e:
        known[f.__name__] = None
        known[f.__name__ + "_why"] = str(e)


def files():
    for i in range(5):
        with open(f"{DIR}/f{i}", "w") as f:
            f.write("x" * 1000)
    for _ in range(2):
        try:
            open(f"{DIR}/missing")
        except OSError:
            pass
    at, here = os.open(DIR, os.O_RDONLY), os.getcwd()
    os.chdir(DIR)
    for name, where in (("by-fd", at), ("by-cwd", None)):
        try:
            os.open(name, os.O_RDONLY, dir_fd=where)
        except OSError:
            pass
        os.chdir("/proc")
    os.chdir(here)
    os.close(at)
    for _ in range(3):
        os.stat(f"{DIR}/f1")
    try:
        os.stat(f"{DIR}/not")
    except OSError:
        pass
    fd = os.open(f"{DIR}/f1", os.O_RDWR)
    os.fstat(fd)  # of what is open: not for statsnoop
    for _ in range(700):
        os.pread(fd, 10, 0)
    for _ in range(40):
        os.pwrite(fd, b"0123", 8192)
    os.fsync(fd)
    os.fdatasync(fd)
    os.close(fd)
    os.unlink(f"{DIR}/f4")


def processes():
    for i in range(3):
        subprocess.run(["/bin/echo", "one two", str(i), *"abcdefghij"], stdout=subprocess.DEVNULL)
    subprocess.run(["/bin/uname", "-s\t\n\x1b[31m"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    subprocess.run(["/bin/sh", "-c", "exec /bin/true again"])
    try:
        subprocess.run(["/nowhere/at/all"])
    except OSError:
        pass
    os.kill(os.getpid(), 0)
    for _ in range(4):
        os.kill(os.getpid(), 18)
    try:
        os.kill(4194000, 9)
    except OSError:
        pass
    for _ in range(100):
        os.getppid()
    for _ in range(3):
        t = threading.Thread(target=lambda: None)
        t.start()
        t.join()


def capabilities():
    child = os.fork()
    if child == 0:
        libc.setpriority(0, 0, -5)
        os.setuid(65534)
        libc.chroot(b"/")
        os._exit(0)
    os.waitpid(child, 0)
    return child


def connections():
    lis = socket.socket()
    lis.bind(("127.0.0.1", 0))
    lis.listen()
    for _ in range(3):
        c = socket.create_connection(lis.getsockname())
        a, _ = lis.accept()
        c.sendall(b"z" * 5000)
        got = 0
        while got < 5000:
            got += len(a.recv(5000))
        c.close()
        a.close()
    six = None
    try:
        s = socket.socket(socket.AF_INET6)
        s.bind(("::1", 0))
        s.listen()
        c = socket.create_connection(s.getsockname()[:2])
        s.accept()[0].close()
        six = s.getsockname()[1]
        c.close()
    except OSError:
        pass
    return {"port": lis.getsockname()[1], "port6": six}


def retransmits():
    """The other end drops all that comes, so what is sent is sent again; the kernel says how often."""
    lis = socket.socket()
    lis.bind(("127.0.0.1", 0))
    lis.listen()
    c = socket.create_connection(lis.getsockname())
    a, _ = lis.accept()
    drop = ctypes.create_string_buffer(struct.pack("HBBI", 6, 0, 0, 0))
    a.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HxxxxxxP", 1, ctypes.addressof(drop)))  # SO_ATTACH_FILTER
    c.sendall(b"lost")
    until = time.time() + 20
    n = 0
    while n < 3 and time.time() < until:
        time.sleep(0.02)
        n = struct.unpack("I", c.getsockopt(socket.IPPROTO_TCP, 11, 104)[100:104])[0]  # tcpi_total_retrans
    c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    port = c.getsockname()[1]
    n = struct.unpack("I", c.getsockopt(socket.IPPROTO_TCP, 11, 104)[100:104])[0]
    c.close()
    return {"port": port, "n": n}


def dns():
    """A name server of our own, in a network and with a resolv.conf of our own, that takes 150 ms to answer."""
    out, into = os.pipe()
    child = os.fork()
    if child:
        os.close(into)
        os.waitpid(child, 0)
        if os.read(out, 1) != b"k":
            raise OSError("no network or mounts of our own")
        return child
    try:
        if libc.unshare(0x40020000):  # CLONE_NEWNET | CLONE_NEWNS
            raise OSError("unshare")
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        fcntl.ioctl(s, 0x8914, struct.pack("16sH22x", b"lo", 0x49))  # SIOCSIFFLAGS: up, running
        with open(f"{DIR}/resolv.conf", "w") as f:
            f.write("nameserver 127.0.0.1\noptions attempts:1 timeout:20\n")
        with open(f"{DIR}/nsswitch.conf", "w") as f:
            f.write("hosts: dns\n")
        libc.mount(b"none", b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE
        for name in ("resolv.conf", "nsswitch.conf"):
            if libc.mount(f"{DIR}/{name}".encode(), f"/etc/{name}".encode(), None, 0x1000, None):
                raise OSError("bind mount")
        s.bind(("127.0.0.1", 53))

        def serve():
            while True:
                q, who = s.recvfrom(512)
                time.sleep(0.15)
                end = 12
                while q[end]:
                    end += q[end] + 1
                asked = q[12:end + 5]
                four = asked[-4:-2] == b"\0\1"
                answer = asked[:-4] + b"\0\1\0\1" + struct.pack(">IH", 60, 4) + bytes([10, 1, 2, 3]) if four else b""
                s.sendto(q[:2] + b"\x85\x80\0\1\0" + (b"\1" if four else b"\0") + b"\0\0\0\0" + asked + answer, who)
        threading.Thread(target=serve, daemon=True).start()
        assert socket.getaddrinfo("slow.kymo.test", 80, socket.AF_INET)[0][4][0] == "10.1.2.3"
        os.write(into, b"k")
    except Exception:
        pass
    os._exit(0)


def oom():
    """A child with little memory that wants much."""
    v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    base = "/sys/fs/cgroup" if v2 else "/sys/fs/cgroup/memory"
    group = f"{base}/{NAME}"
    if v2:
        with open(f"{base}/cgroup.subtree_control", "w") as f:
            f.write("+memory")
    os.mkdir(group)
    try:
        with open(f"{group}/{'memory.max' if v2 else 'memory.limit_in_bytes'}", "w") as f:
            f.write("20000000")
        child = os.fork()
        if child == 0:
            try:
                with open(f"{group}/cgroup.procs", "w") as f:
                    f.write("0")
                hold = mmap.mmap(-1, 200 << 20)
                for i in range(0, 200 << 20, 4096):
                    hold[i] = 1
            finally:
                os._exit(0)
        if os.waitpid(child, 0)[1] != 9:
            raise OSError("it was not killed")
        return child
    finally:
        for _ in range(100):
            try:
                os.rmdir(group)
                break
            except OSError:
                time.sleep(0.05)


def place():
    """A file that lies in one piece on a disk: the disk's numbers, and the sector it begins at."""
    for i in range(40):
        path = f"{DIR}/d{i}"
        fd = os.open(path, os.O_CREAT | os.O_WRONLY)
        os.write(fd, b"d" * SIZE)
        os.fsync(fd)
        dev = os.fstat(fd).st_dev
        if os.major(dev) == 0:
            raise OSError(f"{DIR} is on no disk")
        ask = bytearray(struct.pack("QQIIII", 0, SIZE, 1, 0, 2, 0) + bytes(2 * 56))
        fcntl.ioctl(fd, 0xC020660B, ask)  # FS_IOC_FIEMAP
        os.close(fd)
        physical, length = struct.unpack_from("8xQQ", ask, 32)
        if struct.unpack_from("I", ask, 20)[0] == 1 and length >= SIZE:
            sys = os.path.realpath(f"/sys/dev/block/{os.major(dev)}:{os.minor(dev)}")
            start = 0
            if os.path.exists(f"{sys}/partition"):
                with open(f"{sys}/start") as f:
                    start = int(f.read())
                sys = os.path.dirname(sys)
            if os.listdir(f"{sys}/slaves"):
                raise OSError(f"{DIR} is on a disk made of others")
            with open(f"{sys}/dev") as f:
                return path, f.read().strip().replace(":", ","), start + physical // 512
    raise OSError("no file lies in one piece")


def disk():
    """Eight writes of 64 KiB and four of 4 KiB in a row, straight to the disk."""
    fd = os.open(PLACE[0], os.O_WRONLY | os.O_DIRECT)
    b = mmap.mmap(-1, 65536)
    for _ in range(8):
        os.write(fd, b)
    for _ in range(4):
        os.write(fd, memoryview(b)[:4096])
    os.close(fd)


def cache():
    """2048 pages: read twice, once when they are not in memory and once when they are."""
    with open(f"{DIR}/c", "wb") as f:
        f.write(b"c" * (2048 * 4096))
        f.flush()
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    for _ in range(2):
        with open(f"{DIR}/c", "rb", buffering=0) as f:
            while f.read(65536):
                pass


def work_and_wait():
    end = time.process_time() + 0.4
    while time.process_time() < end:
        pass
    for _ in range(10):
        time.sleep(0.02)


with open("/proc/self/comm", "w") as f:
    f.write(NAME)
PLACE = None
try:
    PLACE = place()
    why = None
except OSError as e:
    why = str(e)
print(json.dumps({"disk": PLACE[1:] if PLACE else None, "why": why}), flush=True)
sys.stdin.readline()
files()
processes()
work_and_wait()
cache()
for part in (capabilities, connections, retransmits, dns, oom):
    kept(part)
for _ in range(ROUNDS if PLACE else 0):
    disk()
    time.sleep(0.15)
print(json.dumps(known), flush=True)
sys.stdin.readline()  # stays until it has been looked at
