# SPDX-License-Identifier: MIT
# Time off the CPU on older kernels and on aarch64: the programs load, waits are as long as they were.
# arch: x86_64 aarch64

kymo record --wakers -e dummy -o /tmp/off.data sleep 1 >/dev/null 2>&1
ns=$(kymo report --off-cpu -i /tmp/off.data --stdio -g none --no-children -s comm -F period,comm 2>/dev/null |
	awk '$2 == "sleep" { print $1 }')
check "a second of sleep is a second off the CPU ($ns ns)" test "${ns:-0}" -ge 900000000
check "which an interrupt ends" sh -c 'kymo report --wakers -i /tmp/off.data --stdio 2>/dev/null | grep -q "woken by interrupt"'
check "the whole machine, too" sh -c 'kymo record --off-cpu -a -e dummy -o /tmp/off.data sleep 1 2>&1 | grep -q "off the CPU: "'
