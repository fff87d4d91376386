# SPDX-License-Identifier: MIT
# kymo stat on kernels that have what others refuse: a PMU (aarch64), everything else (x86_64).
# arch: x86_64 aarch64

count() { # EVENT ARGS...: the value of the event's line of -x
	event=$1
	shift
	kymo stat -x, "$@" 2>&1 | awk -F, -v e="$event" '$3 == e { print $1 }'
}

is "system calls are counted exactly" \
	"$(count syscalls:sys_enter_getppid -e syscalls:sys_enter_getppid /work/known getppid=321)" 321
is "in children and threads" \
	"$(count syscalls:sys_enter_getppid -e syscalls:sys_enter_getppid /work/known getppid=10 children=2 threads=3)" 60
is "across an exec" \
	"$(count syscalls:sys_enter_getppid -e syscalls:sys_enter_getppid /work/known getppid=11 exec)" 22
is "the exit code is the command's" "$(kymo stat -e cs sh -c 'exit 5' 2>/dev/null; echo $?)" 5

if [ "$(uname -m)" = x86_64 ]; then
	check "without a PMU one line says so" sh -c 'kymo stat true 2>&1 | grep -q "no PMU"'
	is "and the event is <not supported>" "$(count cycles -e cycles true)" "<not supported>"
	return 0 2>/dev/null || exit 0
fi

turns=2000000
insns=$((2 * turns))
one=$(count instructions:u -e instructions:u /work/spin $turns)
two=$(count instructions:u -e instructions:u /work/spin $turns)
within "instructions of a loop that is known" "$one" $insns 3
within "again the same" "$two" "$one" 1

cycles=$(count cycles:u -e cycles:u,instructions:u /work/spin $turns)
within "two cycles an instruction in this machine" "$cycles" $((2 * insns)) 3
is "instructions per cycle" \
	"$(kymo stat -x, -e cycles:u,instructions:u /work/spin $turns 2>&1 | awk -F, '$3 == "instructions:u" { print $6, $7 }')" \
	"0.50 insn per cycle"
check "GHz is shown" sh -c 'kymo stat -e task-clock,cycles /work/spin 500000 2>&1 | grep -q GHz'

u=$(count cycles:u -e cycles:u,cycles:k,cycles /work/spin $turns)
kymo stat -x, -e cycles:u,cycles:k,cycles /work/spin $turns 2>/tmp/ukc
u=$(awk -F, '$3 == "cycles:u" { print $1 }' /tmp/ukc)
k=$(awk -F, '$3 == "cycles:k" { print $1 }' /tmp/ukc)
all=$(awk -F, '$3 == "cycles" { print $1 }' /tmp/ukc)
within "user and kernel add up" $((u + k)) "$all" 1

# a group is switched on and off together and read at one instant: its times are one
kymo stat -x, --no-inherit -e '{cycles,instructions,cycles:u}' /work/spin $turns 2>/tmp/group
is "a group of three: one time for all" "$(cut -d, -f4 /tmp/group | sort -u | wc -l)" 1
is "and all of it counted" "$(cut -d, -f5 /tmp/group | sort -u)" "100.00"

# twelve events on seven counters take turns; scaled they must come out right
list=instructions:u
i=1
while [ $i -lt 12 ]; do
	list=$list,instructions:u
	i=$((i + 1))
done
turns=60000000
insns=$((2 * turns))
kymo stat -x, -e $list /work/spin $turns 2>/tmp/mux
is "twelve events" "$(wc -l </tmp/mux)" 12
check "they took turns" sh -c "cut -d, -f5 /tmp/mux | grep -qv 100.00"
bad=$(awk -F, -v want=$insns '{ d = ($1 - want) / want; if (d < -0.05 || d > 0.05) n++ } END { print n + 0 }' /tmp/mux)
is "each scaled to within 5% of what was there" "$bad" 0
[ "$bad" = 0 ] || sed 's/^/# /' /tmp/mux

check "-a counts on all CPUs" sh -c 'kymo stat -x, -a -e cycles sleep 0.1 2>&1 | grep -qE "^[0-9]+,,cycles"'

check "raw events" sh -c 'kymo stat -x, -e r11 /work/spin 100000 2>&1 | grep -qE "^[0-9]+,,r11"'
pmu=$(ls /sys/bus/event_source/devices | grep armv8 | head -1)
check "a PMU event by its name in sysfs" sh -c "kymo stat -x, -e $pmu/inst_retired/ /work/spin 100000 2>&1 | grep -qE \"^[0-9]+,\""
