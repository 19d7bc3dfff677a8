`skidscan rates` on the output of perf stat of other machines.

  $ . "$CASES/common.sh"
  $ cat > loads <<'END'
  > # started on Thu Jan  1 00:00:00 1970
  > 
  > 200,,r40d1,1000,100.00,,
  > 700,,MEM_LOAD_RETIRED:L1_HIT,1000,100.00,,
  > 100,,cpu/event=0xd1,umask=0x8/,1000,100.00,,
  > 60,,mem_load_uops_retired.l2_hit,1000,100.00,,
  > 40,,cpu/mem_load_retired.l2_miss/,1000,100.00,,
  > 25,,r4d1,1000,100.00,,
  > 15,,mem_load_retired.l3_miss,1000,50.00,,
  > <not counted>,,mem_inst_retired.all_loads,0,0.00,,
  > 30,,r2124,1000,100.00,,
  > 120,,re124,1000,100.00,,
  > END

Intervals of loads, as text:

  $ skidscan rates < loads > text
  $ sed '/^$/,$d' text
  30.00% of loads miss L1; 1.50% to 21.50% of loads miss L3; 40.00% of lines
  filled into L1 miss L2; 25.00% demand data read miss in L2
  $ grep -e '^standard' -e '  L1 miss' -e 'local L3 miss.*to' -e '  demand data read miss' -e missing -e residual \
  >   -e 'not counted:' -e 'not counted$' -e 'l3_miss. (' -e 'was not' text
  standard input: read as the output of perf stat -x,
    L1 miss         30.00%               (HIT_LFB + L1_MISS) / (HIT_LFB + L1_MISS
    local L3 miss   6.25% to 89.58%      ((1-a-b) HIT_LFB + L3_MISS) / ((1-a)
    L1_MISS = L2_HIT + L2_MISS: 100 against 100, residual 0 (0.00% of the
    L2_MISS = L3_HIT + L3_MISS: 40 against 40, residual 0 (0.00% of the larger)
    A residual is not an error: on Skylake and later the identities hold only
    demand data read miss  25.00%               r2124 / re124
    'mem_inst_retired.all_loads' was not counted: its counter never ran
      'mem_load_retired.l3_miss' (50.00%)
  $ skidscan rates loads --lfb-l2 0.5 --lfb-l3 0.25 | grep -e 'a = ' -e 'L3 miss'
  Loads (instructions or uops), HIT_LFB shares a = 0.5, b = 0.25
    local L3 miss   46.43%               ((1-a-b) HIT_LFB + L3_MISS) / ((1-a)
    global L3 miss  6.50%                ((1-a-b) HIT_LFB + L3_MISS) / (HIT_LFB +
    local L3 miss   37.50%               L3_MISS / L2_MISS
    global L3 miss  15.00%               L3_MISS / L1_MISS

The same as JSON:

  $ skidscan rates loads --format json > json
  $ pick < json file form separator events.# events.2.name events.2.quantity events.2.value \
  >   events.6.running_percent events.7.state events.7.value events.8.l2_rqsts_umask \
  >   'loads.[name=local L3 miss].low' 'loads.[name=local L3 miss].high' identities.0.missing \
  >   identities.1.residual 'backend.[name=memory].low' warnings.#
  file = "loads"
  form = "separated"
  separator = ","
  events.# = 10
  events.2.name = "cpu/event=0xd1,umask=0x8/"
  events.2.quantity = "L1_MISS"
  events.2.value = 100.0
  events.6.running_percent = 50.0
  events.7.state = "not counted"
  events.7.value = null
  events.8.l2_rqsts_umask = "0x21"
  loads.[name=local L3 miss].low = 0.0625
  loads.[name=local L3 miss].high = 0.8958333333333334
  identities.0.missing = ["ALL_LOADS"]
  identities.1.residual = 0.0
  backend.[name=memory].low = null
  warnings.# = 2
  $ skidscan rates loads --lfb-l2 1 --format json | pick lfb_shares
  lfb_shares = {"l2": 1.0, "l3": null}

A hybrid CPU has rates for each core type, the longest running first; here with another separator.

  $ cat > hybrid <<'END'
  > 1234;;cpu_core/cycles/;4300;0,43;;
  > 1000;;cpu_core/instructions/;4300;0,43;;
  > 2000000;;cpu_atom/cycles/;995700;99,57;;
  > 1000000;;cpu_atom/instructions/;995700;99,57;;
  > 9000;;cpu_atom/branch-misses/;995700;99,57;;
  > 200000;;cpu_atom/branches/;995700;99,57;;
  > END
  $ skidscan rates hybrid | sed '/^Counts/,/^Generic/d;/^Warnings/,$d'
  on cpu_atom, counted in 99.57% of the time: 0.50 instructions per cycle; 4.50%
  of branches mispredicted; on cpu_core, counted in 0.43% of the time: 0.81
  instructions per cycle
  
  hybrid: read as the output of perf stat -x;
  
    instructions per cycle  0.50                 instructions / cycles
    branches mispredicted   4.50%                branch-misses / branches
  
  Generic events on cpu_core
    instructions per cycle  0.81                 instructions / cycles
  
  $ skidscan rates hybrid --format json | pick separator core_types.# core_types.0.pmu core_types.1.running_percent \
  >   general.0.low core_types.1.general.0.high events.0.pmu
  separator = ";"
  core_types.# = 2
  core_types.0.pmu = "cpu_atom"
  core_types.1.running_percent = 0.43
  general.0.low = 0.5
  core_types.1.general.0.high = 0.8103727714748784
  events.0.pmu = "cpu_core"

Generic events and those of AMD:

  $ printf '%s,,%s,1,100.00,,\n' 5000 ex_ret_instr 4000 ls_not_halted_cyc > amd
  $ skidscan rates amd
  1.25 instructions per cycle
  
  amd: read as the output of perf stat -x,
  
  Counts
    instructions  5,000  ex_ret_instr
    cycles        4,000  ls_not_halted_cyc
  
  Generic events
    instructions per cycle  1.25                 instructions / cycles
  $ printf '%s,,%s,1,100.00,,\n' 4 page-faults > none
  $ skidscan rates none
  no rate can be computed from these counts; docs/rates.md lists the counts of
  each rate
  
  none: read as the output of perf stat -x,
  
  Counts
    no rate  4  page-faults
  $ printf '%s,,%s,1,100.00,,\n' 0 cpu_core/cache-references/ 0 cpu_core/cache-misses/ 4 cpu_atom/cycles/ > zero
  $ skidscan rates zero
  no rate can be computed from these counts; docs/rates.md lists the counts of
  each rate
  
  zero: read as the output of perf stat -x,
  
  Counts
    cache-references  0  cpu_core/cache-references/
    cache-misses      0  cpu_core/cache-misses/
    cycles            4  cpu_atom/cycles/

Wrong input:

  $ echo no counts in here > nothing
  $ skidscan rates nothing
  skidscan: nothing: no count of perf stat, expected the output of perf stat -j or perf stat -x SEPARATOR; count with -j; perf stat writes to standard error: use its -o FILE, or 2>&1
  [1]
  $ printf " Performance counter stats for 'x':\n\n 7 cycles\n" > table
  $ skidscan rates table
  skidscan: table: no count of perf stat, expected the output of perf stat -j or perf stat -x SEPARATOR; count with -j; perf stat writes to standard error: use its -o FILE, or 2>&1
  [1]
  $ printf '<not supported>,,%s,0,100.00,,\n' cycles instructions > not_counted
  $ skidscan rates not_counted
  skidscan: not_counted: none of 2 events was counted, expected a count; count on a machine whose PMU has the events ('skidscan doctor' there prints what it has)
  [1]
  $ skidscan rates gone
  skidscan: gone: no such file or directory
  [1]
  $ skidscan rates loads --lfb-l2 0.8 --lfb-l3 0.3
  skidscan: --lfb-l2 and --lfb-l3 add up to 1.1; shares of the same loads are at most 1 together
  [64]
  $ skidscan rates loads --lfb-l2 1.5
  skidscan: --lfb-l2 1.5: expected 0 to 1; try 'skidscan rates --help'
  [64]
  $ skidscan rates /dev/zero
  skidscan: /dev/zero: a device, expected a regular file
  [1]
  $ skidscan rates < /dev/zero
  skidscan: standard input: more than 16777216 bytes, expected at most that many; give the output of perf stat alone
  [1]

Hostile names are escaped: control characters, which come through JSON alone, and bytes that are no
UTF-8.

  $ cat > hostile <<'END'
  > {"counter-value" : "5", "event" : "cycles:u"}
  > {"counter-value" : "7", "event" : "ev\u001b[2J\u0007\u202eil"}
  > END
  $ skidscan rates hostile > text
  $ grep -o 'ev.*il' text
  ev\x1b[2J\x07\xe2\x80\xaeil
  $ LC_ALL=C grep '[^ -~]' text
  [1]
  $ skidscan rates hostile --format json | pick events.1.name
  events.1.name = "ev\u001b[2J\u0007\u202eil"
  $ printf '5,,cycles:u,1,100.00,,\n7,,ev\342\200\256il\377,1,100.00,,\n' > bytes
  $ skidscan rates bytes > text
  $ grep -o 'ev.*il.*' text
  ev\xe2\x80\xaeil\xff
  $ LC_ALL=C grep '[^ -~]' text
  [1]
  $ skidscan rates bytes --format json | pick events.1.name
  events.1.name = "ev\u202eil\ufffd"
