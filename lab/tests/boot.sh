# shellcheck shell=sh
# The guest is what the other tests expect: kymo runs, and everything that
# init mounts, loads and starts is there.

check "kymo version runs" kymo version
is "kymo is in PATH" "$(command -v kymo)" /usr/bin/kymo
check "spin runs" spin 1000

for type in proc sysfs devtmpfs tracefs debugfs cgroup2 bpf devpts; do
	like "$type is mounted" "$(cat /proc/mounts)" "^[^ ]+ [^ ]+ $type "
done
like "/tmp is in memory" "$(cat /proc/mounts)" "^[^ ]+ /tmp tmpfs "
like "the scratch disk is ext4" "$(cat /proc/mounts)" "^/dev/vda /scratch ext4 rw"
check "the scratch disk takes data" dd if=/dev/zero of=/scratch/data bs=64k count=4 conv=fsync
rm -f /scratch/data
check "the loopback network is up" ping -c 1 -W 5 127.0.0.1
check "there is a random number" head -c 8 /dev/urandom

for module in loop null_blk overlay fuse dummy veth tun bridge sch_netem virtio_net; do
	check "module $module loads" modprobe "$module"
	modprobe -r "$module"
done
