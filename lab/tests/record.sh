# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# kymo record with a PMU: how many samples, of what, and what is refused.
# arch: aarch64
# timeout: 300

samples() { # FILE [ARGS...]: how many
	file=$1
	shift
	kymo script -i "$file" -F ip,sym "$@" 2>/dev/null | grep -c .
}

periods() { # FILE: what its samples count for, all together
	kymo script -i "$1" -F period 2>/dev/null | awk '{ n += $1 } END { printf "%.0f\n", n }'
}

level() { # FILE LETTER: how many of its samples are in such code (k: the kernel's, .: user)
	kymo report -i "$1" --stdio -g none --no-children -F sample,sym 2>/dev/null |
		awk -v l="[$2]" '$2 == l { n += $1 } END { print n + 0 }'
}

# A turn is two instructions, an instruction two cycles: pmu.sh.
turns=2000000
cycles=$((4 * turns))

for period in 50000 200000 1000000; do
	check "by period: -c $period" kymo record -q -e cycles:u -c $period -o p.data spin $turns
	within "a sample every $period cycles" "$(samples p.data)" $((cycles / period)) 4
	is "each counts for that many" "$(kymo script -i p.data -F period | sort -u | tr -d ' ')" $period
done
counted=$(kymo stat -x, -e cycles:u spin $turns 2>&1 | cut -d, -f1)
check "again" kymo record -q -e cycles:u -c 100000 -o p.data spin $turns
within "as many as were counted, to the period" "$(samples p.data)" $((counted / 100000)) 2
like "nearly all in the loop" "$(kymo report -i p.data --stdio -s sym 2>/dev/null)" '^ +(9[5-9]|100)\.[0-9]+% .* spin'
like "the event is the one asked for" "$(kymo evlist -v -i p.data)" '^cycles:u: .*sample_freq }: 100000,'
unlike "that is no frequency" "$(kymo evlist -v -i p.data)" 'freq: 1'

turns=10000000
cycles=$((4 * turns))
check "by frequency: -F 2000" kymo record -q -e cycles:u -F 2000 -o f.data spin $turns
like "asked of the kernel" "$(kymo evlist -v -i f.data)" '^cycles:u: .*sample_freq }: 2000,.* freq: 1'
within "the periods of all samples are the cycles that were there" "$(periods f.data)" $cycles 10
# 40 ms of the guest's time; the kernel starts with short periods and finds its way
n=$(samples f.data)
check "and about so many samples ($n)" [ "$n" -ge 40 -a "$n" -le 300 ]

check "cycles:u" kymo record -q -e cycles:u -c 20000 -o u.data known getppid=20000
# a counter that overflows at the end of user code is told of by an interrupt in the kernel
in=$(level u.data .)
out=$(level u.data k)
check "in user code, but for what comes late ($in, $out)" [ "$in" -gt 0 -a $((out * 3)) -le "$in" ]
check "cycles:k" kymo record -q -e cycles:k -c 100000 -o k.data known getppid=20000
in=$(level k.data k)
out=$(level k.data .)
check "in the kernel's code ($in, $out)" [ "$in" -gt 0 -a $((out * 3)) -le "$in" ]
like "with names" "$(kymo report -i k.data --stdio -s sym 2>/dev/null)" '\[k\] [a-z_]+'
check "both" kymo record -q -e cycles -c 100000 -o b.data known getppid=20000
within "are their sum" "$(samples b.data)" $(($(samples u.data) / 5 + $(samples k.data))) 10

for event in cycles:p cycles:pp cycles:ppp; do
	out=$(kymo record -q -e $event -o no.data true 2>&1)
	status=$?
	check "$event is refused" [ $status -ne 0 ]
	like "$event: with the reason" "$out" 'precise'
done
out=$(kymo record -o d.data spin 200000 2>&1)
unlike "cycles by default, and no word of a clock" "$out" 'cpu-clock'
like "as precise as the machine can" "$(kymo evlist -v -i d.data)" '^cycles'
