# shellcheck shell=sh
# timeout: 240
# Code of a program and of the running kernel (through /proc/kcore), instruction by instruction.

kymo version --build-options | grep -q 'capstone: \[ on' || skip_all "built without capstone"

# percentages of a listing, added up
total() { sed -n 's/^ *\([0-9.]*\) :  *[0-9a-f][0-9a-f]*:.*/\1/p' | awk '{ s += $1 } END { printf "%d", s + 0.5 }'; }
count() { sed -n 's/^ *\([0-9.]*\) :  *[0-9a-f][0-9a-f]*:.*/\1/p' | awk '{ s += $1 } END { printf "%d", s }'; }

check "a program is recorded" kymo record -q -e cpu-clock -c 500000 -o user.data spin 15000000
out=$(kymo annotate --stdio -i user.data -s spin 2>&1)
like "its hot function is shown" "$out" '<spin>:'
within "shares add up to all" "$(echo "$out" | total)" 100 1
case $ARCH in
aarch64) like "the loop's instruction" "$out" 'subs +x[0-9]+,x[0-9]+,#1' ;;
*) like "the loop's instruction" "$out" 'dec[ql]* +%r' ;;
esac
like "and its jump back" "$out" "'-- +(jne|b\.ne) "

[ -r /proc/kcore ] || skip_all "no /proc/kcore"
check "system calls are recorded" kymo record -q -e cpu-clock -c 100000 -o kernel.data known getppid=150000
func=$(kymo report --stdio -i kernel.data --sort symbol 2>/dev/null | sed -n 's/.*\[k\] \([^ ]*\).*/\1/p' | head -1)
diag "the kernel's hottest function: $func"
out=$(kymo annotate --stdio -i kernel.data -s "$func" 2>&1)
like "the kernel's code is shown" "$out" "<$func>:"
within "shares add up to all" "$(echo "$out" | total)" 100 1
samples=$(kymo annotate --stdio -i kernel.data -s "$func" -n 2>&1)
is "and samples to the samples" "$(echo "$samples" | count)" "$(echo "$samples" | sed -n 's/.*(\([0-9]*\) samples,.*/\1/p')"
out=$(kymo annotate --stdio -q -i kernel.data 2>&1)
is "nothing in it is unknown" "$(echo "$out" | grep -c '(bad)')" 0

# What it calls has the name the kernel gives it: no sample need have been there.
bad=0 n=0
for pair in $(echo "$out" | sed -n 's/.* \(callq\|bl\)  *\(ffff[0-9a-f]*\) <\([^>+]*\)>.*/\2=\3/p' | sort -u | head -20); do
	n=$((n + 1))
	grep -q "^${pair%=*} . ${pair#*=}\b" /proc/kallsyms || { bad=$((bad + 1)); diag "${pair}"; }
done
[ "$n" -gt 3 ] && pass "calls were found" || fail "calls were found"
is "calls have the names of /proc/kallsyms" $bad 0
