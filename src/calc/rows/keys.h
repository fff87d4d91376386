/* SPDX-License-Identifier: MIT */
/*
 * All sort keys, a row each (struct key_info, key.h); key.h makes the numbers of it, key.c the
 * table. The beginning of a name is enough: of several keys the first one here is meant, which is
 * perf's order.
 */
/* clang-format off */
KEY(PID, "pid", "    Pid:Command", KEY_OF_SAMPLE, &key_thread, .by = PROFILE_BY_TID,
    .brief = "Thread", .padded = true, .live = true, .have = EVENT_HAVE_TASK, .what = "threads")
KEY(COMM, "comm", "Command", KEY_OF_SAMPLE, &key_comm, .by = PROFILE_BY_COMM,
    .padded = true, .live = true, .have = EVENT_HAVE_TASK, .what = "threads")
KEY(DSO, "dso", "Shared Object", KEY_OF_SITE, &key_dso, .brief = "File", .padded = true)
KEY(SYM, "symbol", "Symbol", KEY_OF_SITE, &key_symbol)
KEY(PARENT, "parent", "Parent symbol", KEY_OF_SAMPLE, &key_parent, .by = PROFILE_BY_CHAIN,
    .padded = true)
KEY(CPU, "cpu", "CPU", KEY_OF_SAMPLE, &key_cpu, .by = PROFILE_BY_CPU, .width = 3, .right = true,
    .live = true, .have = EVENT_HAVE_CPU, .what = "CPUs")
KEY(SOCKET, "socket", "Socket", KEY_OF_SAMPLE, &key_cpu, .by = PROFILE_BY_CPU, .width = 6,
    .right = true)
KEY(SRCLINE, "srcline", "Source:Line", KEY_OF_SITE, &key_line, .brief = "Line")
KEY(SRCFILE, "srcfile", "Source File", KEY_OF_SITE, &key_source, .brief = "Source")
KEY(LOCAL_WEIGHT, "local_weight", "Local Weight", KEY_OF_SAMPLE, .word = { KEY_WORD_WEIGHT,
    .mask = UINT32_MAX }, .width = 12, .falls = true)
KEY(WEIGHT, "weight", "Weight", KEY_OF_SAMPLE, .word = { KEY_WORD_WEIGHT, .mask = UINT32_MAX },
    .width = 12, .falls = true, .times = true)
KEY(TRANSACTION, "transaction", "Transaction                ", KEY_OF_SAMPLE, &key_transaction,
    .word = WORD(transaction), .falls = true)
KEY(TRACE, "trace", "Trace output", KEY_OF_SAMPLE, &key_extra, .brief = "Trace", .live = true)
KEY(SYM_SIZE, "symbol_size", "Symbol size", KEY_OF_SITE, &key_symbol_size, .right = true)
KEY(DSO_SIZE, "dso_size", "DSO size", KEY_OF_SITE, &key_dso_size, .right = true)
KEY(CGROUP, "cgroup", "Cgroup", KEY_OF_SAMPLE, &key_cgroup, .word = WORD(cgroup), .width = 6)
KEY(CGROUP_ID, "cgroup_id", "cgroup id (dev/inode)", KEY_OF_SAMPLE, &key_namespace,
    .word = { KEY_WORD_NAMESPACE }, .width = 20, .falls = true)
KEY(IPC, "ipc_null", "IPC   [IPC Coverage]", KEY_OF_SITE, &key_ipc)
KEY(TIME, "time", "Time", KEY_OF_SAMPLE, &key_time, .by = PROFILE_BY_TIME, .width = 12,
    .live = true, .have = EVENT_HAVE_TIME, .what = "times")
KEY(CODE_PAGE_SIZE, "code_page_size", "Code Page Size", KEY_OF_SAMPLE, &key_page_size,
    .word = WORD(code_page_size), .width = 6)
KEY(LOCAL_INS_LAT, "local_ins_lat", "Local INSTR Latency", KEY_OF_SAMPLE,
    .word = { KEY_WORD_WEIGHT, .shift = 32, .mask = UINT16_MAX }, .width = 13, .falls = true)
KEY(INS_LAT, "ins_lat", "INSTR Latency", KEY_OF_SAMPLE, .word = { KEY_WORD_WEIGHT, .shift = 32,
    .mask = UINT16_MAX }, .width = 13, .falls = true, .times = true)
KEY(LOCAL_P_STAGE_CYC, "local_p_stage_cyc", "Local Pipeline Stage Cycle", KEY_OF_SAMPLE)
KEY(P_STAGE_CYC, "p_stage_cyc", "Pipeline Stage Cycle", KEY_OF_SAMPLE)
KEY(ADDR, "addr", "Address", KEY_OF_SITE, &key_address, .width = 18)
KEY(OVERHEAD, "overhead", "Overhead", KEY_SUM, .width = 8)
KEY(OVERHEAD_SYS, "overhead_sys", "sys", KEY_SUM, .by = PROFILE_BY_CODE, .width = 8)
KEY(OVERHEAD_US, "overhead_us", "usr", KEY_SUM, .by = PROFILE_BY_CODE, .width = 8)
KEY(OVERHEAD_GUEST_SYS, "overhead_guest_sys", "guest sys", KEY_SUM, .by = PROFILE_BY_CODE,
    .width = 9)
KEY(OVERHEAD_GUEST_US, "overhead_guest_us", "guest usr", KEY_SUM, .by = PROFILE_BY_CODE, .width = 9)
KEY(CHILDREN, "overhead_children", "Children", KEY_SUM, .width = 8)
KEY(SAMPLES, "sample", "Samples", KEY_SUM, .width = 12, .counts = true)
KEY(PERIOD, "period", "Period", KEY_SUM, .width = 12, .counts = true)
KEY(DSO_FROM, "dso_from", "Source Shared Object", KEY_OF_BRANCH, &key_dso, .word = BRANCH(from),
    .other = true, .falls = true)
KEY(DSO_TO, "dso_to", "Target Shared Object", KEY_OF_BRANCH, &key_dso, .word = BRANCH(to),
    .falls = true)
KEY(SYM_FROM, "symbol_from", "Source Symbol", KEY_OF_BRANCH, &key_symbol, .word = BRANCH(from),
    .other = true)
KEY(SYM_TO, "symbol_to", "Target Symbol", KEY_OF_BRANCH, &key_symbol, .word = BRANCH(to))
KEY(MISPREDICT, "mispredict", "Branch Mispredicted", KEY_OF_BRANCH, &key_mispredict,
    .word = FLAGS(0, 3))
KEY(IN_TX, "in_tx", "Branch in transaction", KEY_OF_BRANCH, &key_in_tx, .word = FLAGS(2, 1))
KEY(ABORT, "abort", "Transaction abort", KEY_OF_BRANCH, &key_abort, .word = FLAGS(3, 1))
KEY(CYCLES, "cycles", "Basic Block Cycles", KEY_OF_BRANCH, &key_cycles, .word = FLAGS(4, 0xffff),
    .falls = true)
KEY(SRCLINE_FROM, "srcline_from", "From Source:Line", KEY_OF_BRANCH, &key_line,
    .word = BRANCH(from), .other = true)
KEY(SRCLINE_TO, "srcline_to", "To Source:Line", KEY_OF_BRANCH, &key_line, .word = BRANCH(to))
KEY(ADDR_FROM, "addr_from", "Source Address", KEY_OF_BRANCH, &key_branch_place,
    .word = BRANCH(from), .other = true)
KEY(ADDR_TO, "addr_to", "Target Address", KEY_OF_BRANCH, &key_branch_place, .word = BRANCH(to))
KEY(SYM_DADDR, "symbol_daddr", "Data Symbol", KEY_OF_MEMORY, &key_place,
    .word = { KEY_WORD_ADDR }, .other = true)
KEY(SYM_IADDR, "symbol_iaddr", "Code Symbol", KEY_OF_MEMORY, &key_place)
KEY(DSO_DADDR, "dso_daddr", "Data Object", KEY_OF_MEMORY, &key_dso, .word = { KEY_WORD_ADDR },
    .other = true, .falls = true)
KEY(LOCKED, "locked", "Locked", KEY_OF_MEMORY, &key_locked, .word = MEMORY(LOCKED), .width = 6)
KEY(TLB, "tlb", "TLB access", KEY_OF_MEMORY, &key_tlb, .word = MEMORY(TLB), .width = 22)
KEY(MEM, "mem", "Memory access", KEY_OF_MEMORY, &key_level, .word = MEMORY(LEVEL), .width = 24)
KEY(SNOOP, "snoop", "Snoop", KEY_OF_MEMORY, &key_snoop, .word = MEMORY(SNOOP), .width = 12)
KEY(DCACHELINE, "dcacheline", "Data Cacheline", KEY_OF_MEMORY, &key_cache_line,
    .word = { KEY_WORD_ADDR }, .other = true)
KEY(PHYS_DADDR, "phys_daddr", "Data Physical Address", KEY_OF_MEMORY, &key_physical,
    .word = WORD(phys_addr), .width = 22)
KEY(DATA_PAGE_SIZE, "data_page_size", "Data Page Size", KEY_OF_MEMORY, &key_page_size,
    .word = WORD(data_page_size), .width = 22)
KEY(BLOCKED, "blocked", "Blocked", KEY_OF_MEMORY, &key_blocked, .word = MEMORY(BLOCKED),
    .width = 10)
KEY(TGID, "tgid", "   Tgid:Command", KEY_OF_SAMPLE, &key_thread, .by = PROFILE_BY_PID,
    .brief = "Process", .padded = true, .live = true, .have = EVENT_HAVE_TASK, .what = "processes")
/* of a tracepoint, by its own name: no word means it */
KEY(FIELD, "", "", KEY_OF_SAMPLE, &key_extra, .right = true, .live = true)
