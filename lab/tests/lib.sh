# shellcheck shell=sh
# SPDX-License-Identifier: MIT
#
# What a test file can use. The suite reads this file before each test file.
#
#   check NAME CMD...              CMD succeeds; what it printed is shown if not
#   refuse NAME CMD...             CMD fails, but is not killed by a signal
#   is NAME GOT WANT               two strings are the same
#   like NAME TEXT REGEX           TEXT has a line that matches (grep -E)
#   unlike NAME TEXT REGEX         TEXT has no such line
#   within NAME GOT WANT PERCENT   two numbers differ by at most PERCENT
#   pass NAME, fail NAME           when none of these fits
#   skip NAME REASON               this check cannot be made here
#   skip_all REASON                nor any of the file; ends it
#   diag TEXT                      a remark in the output
#
# All of them but skip_all return, with status 1 if the check failed.
#
# $ARCH is x86_64 or aarch64, $TRACEFS the mounted tracefs. The current
# directory is empty at the start and removed at the end; /scratch is an ext4
# disk. Programs of tests/work are in /work, those of lab/tests/src in /lab/bin;
# all are in PATH.

# Each begins a line, also after a program that did not end its last one.
pass() { printf '\nok - %s\n' "$1"; }
fail() { printf '\nnot ok - %s\n' "$1"; return 1; }
skip() { printf '\nok - %s # SKIP %s\n' "$1" "$2"; }
diag() { printf '\n'; printf '%s\n' "$*" | sed 's/^/# /'; }
all_done() { printf '\n@complete\n'; exit 0; }
skip_all() { skip "all of it" "$1"; all_done; }

check() {
	_name=$1
	shift
	if _out=$("$@" 2>&1); then
		pass "$_name"
	else
		_status=$?
		fail "$_name"
		diag "status $_status from: $*"
		[ -z "$_out" ] || diag "$_out"
		return 1
	fi
}

refuse() {
	_name=$1
	shift
	_out=$("$@" 2>&1)
	_status=$?
	if [ $_status -gt 0 ] && [ $_status -lt 126 ]; then
		pass "$_name"
	else
		fail "$_name"
		diag "status $_status from: $*"
		[ -z "$_out" ] || diag "$_out"
		return 1
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		diag "got:  $2"
		diag "want: $3"
		return 1
	fi
}

like() {
	if printf '%s\n' "$2" | grep -qE -e "$3"; then
		pass "$1"
	else
		fail "$1"
		diag "no line matches $3 in:"
		diag "$2"
		return 1
	fi
}

unlike() {
	if printf '%s\n' "$2" | grep -qE -e "$3"; then
		fail "$1"
		diag "a line matches $3 in:"
		diag "$2"
		return 1
	else
		pass "$1"
	fi
}

within() {
	if awk -v g="$2" -v w="$3" -v p="$4" 'BEGIN {
		d = g - w; if (d < 0) d = -d; a = w < 0 ? -w : w
		exit !(g ~ /^-?[0-9.]+$/ && d <= a * p / 100) }'; then
		pass "$1"
	else
		fail "$1"
		diag "got $2, want $3 within $4 %"
		return 1
	fi
}
