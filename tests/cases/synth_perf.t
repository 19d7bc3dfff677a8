Recordings of `skidscan synth` in the eyes of perf, in every mode.

  $ . "$CASES/common.sh"
  $ needs cc
  $ needs perf
  $ cat > check.py <<'END'
  > import collections, json, re
  > truth = json.load(open("a.data.truth.json"))["recordings"][0]["measurements"]
  > wanted, exact = collections.Counter(), collections.Counter()
  > for measurement in truth:
  >     for place in measurement["places"]:
  >         address = int(place["address"], 16)
  >         wanted[measurement["recorded"], address, place["mode"] == "kernel"] += place["count"]
  >         if place["exact_ip"]: exact[address] += place["count"]
  > script = [line.split() for line in open("script")]
  > assert collections.Counter((event[:-1], int(ip, 16), misc == "K") for misc, event, ip in script) == wanted
  > samples = [line for line in open("dump", errors="replace") if "PERF_RECORD_SAMPLE(IP, " in line]
  > heads = [re.search(r"SAMPLE\(IP, (0x[0-9a-f]+)\): [^ ]+ (0x[0-9a-f]+)", line) for line in samples]
  > assert collections.Counter(int(head[2], 16) for head in heads if int(head[1], 16) & 0x4000) == exact
  > # A branch accesses nothing.
  > addresses = truth[1]["data_addresses"]
  > assert addresses["elsewhere"] > 900 and addresses["cause"] == 0
  > assert sum(" addr: 0x" in line for line in samples) == addresses["elsewhere"]
  > symbols = collections.Counter(line.split()[-1] for line in open("symbols") if "r20d1:upp:" in line)
  > assert symbols["skid_trigger"] == truth[1]["samples"]["hit"]
  > assert symbols["skid_runway"] == truth[1]["samples"]["skid"]
  > END
  $ for options in '' --pipe -z '--pipe --compression-level 19'; do
  >   echo "mode $options"
  >   skidscan synth "$CASES/synth_model.json" -q --force -o a.data $options
  >   perf script -i a.data -F misc,event,ip > script
  >   perf script -i a.data -F event,ip,sym > symbols 2> /dev/null
  >   perf script -i a.data -D > dump 2> /dev/null || echo "perf script -D fails"
  >   "$PYTHON" check.py
  >   perf report -i a.data --stdio > report || echo "perf report fails"
  >   grep arning report
  >   grep -o -m 1 r20d1:upp report
  >   perf report -i a.data --header-only > header || echo "perf report --header-only fails"
  >   # Pipes have it in their records, which not every perf prints.
  >   ! grep -q 'perf version' header ||
  >     [ "$(grep -c -e 'skidscan synth' -e 'hostname : synthetic' header)" = 2 ] || cat header
  > done
  mode 
  r20d1:upp
  # ========
  # captured on    : Thu Nov 26 09:27:50 2026
  # header version : 1
  # data offset    : 808
  # data size      : 317856
  # feat offset    : 318664
  # hostname : synthetic
  # os release : synthetic
  # perf version : skidscan synth 0.1.0
  # arch : x86_64
  # nrcpus online : 4
  # nrcpus avail : 4
  # cpudesc : a model, no CPU
  # cmdline : skidscan synth everything -e r20d1:u -e r20d1:upp -e r20d1:up -e cycles:ppp 
  # event : name = r20d1:u, , id = { 100, 101, 102, 103 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, mmap = 1, comm = 1, enable_on_exec = 1, task = 1, sample_id_all = 1, mmap2 = 1, comm_exec = 1
  # event : name = r20d1:upp, , id = { 104, 105, 106, 107 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|ADDR|CPU|IDENTIFIER|DATA_SRC|WEIGHT, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 2, sample_id_all = 1
  # event : name = r20d1:up, , id = { 108, 109, 110, 111 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 1, sample_id_all = 1
  # event : name = cpu-clock:ppp, , id = { 112, 113, 114, 115 }, type = 1, size = 128, { sample_period, sample_freq } = 4000, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, enable_on_exec = 1, precise_ip = 3, sample_id_all = 1
  # pmu mappings: software = 1, tracepoint = 2, cpu = 4, breakpoint = 5
  # time of first sample : 1000.000010
  # time of last sample : 1000.055910
  # sample duration :     55.900 ms
  # missing features: TRACING_DATA BUILD_ID CPUID TOTAL_MEM CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK GROUP_DESC AUXTRACE STAT CACHE MEM_TOPOLOGY CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF COMPRESSED CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS 
  # ========
  #
  mode --pipe
  r20d1:upp
  # ========
  # captured on    : Thu Nov 26 09:27:52 2026
  # header version : 1
  # data offset    : 0
  # data size      : 0
  # feat offset    : 0
  # ========
  #
  # hostname : synthetic
  # os release : synthetic
  # perf version : skidscan synth 0.1.0
  # arch : x86_64
  # nrcpus online : 4
  # nrcpus avail : 4
  # cpudesc : a model, no CPU
  # cmdline : skidscan synth everything -e r20d1:u -e r20d1:upp -e r20d1:up -e cycles:ppp 
  # event : name = r20d1:u, , id = { 100, 101, 102, 103 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, mmap = 1, comm = 1, enable_on_exec = 1, task = 1, sample_id_all = 1, mmap2 = 1, comm_exec = 1
  # event : name = r20d1:upp, , id = { 104, 105, 106, 107 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|ADDR|CPU|IDENTIFIER|DATA_SRC|WEIGHT, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 2, sample_id_all = 1
  # event : name = r20d1:up, , id = { 108, 109, 110, 111 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 1, sample_id_all = 1
  # event : name = cpu-clock:ppp, , id = { 112, 113, 114, 115 }, type = 1, size = 128, { sample_period, sample_freq } = 4000, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, enable_on_exec = 1, precise_ip = 3, sample_id_all = 1
  # pmu mappings: software = 1, tracepoint = 2, cpu = 4, breakpoint = 5
  mode -z
  r20d1:upp
  # ========
  # captured on    : Thu Nov 26 09:27:54 2026
  # header version : 1
  # data offset    : 808
  # data size      : 50465
  # feat offset    : 51273
  # hostname : synthetic
  # os release : synthetic
  # perf version : skidscan synth 0.1.0
  # arch : x86_64
  # nrcpus online : 4
  # nrcpus avail : 4
  # cpudesc : a model, no CPU
  # cmdline : skidscan synth everything -e r20d1:u -e r20d1:upp -e r20d1:up -e cycles:ppp 
  # event : name = r20d1:u, , id = { 100, 101, 102, 103 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, mmap = 1, comm = 1, enable_on_exec = 1, task = 1, sample_id_all = 1, mmap2 = 1, comm_exec = 1
  # event : name = r20d1:upp, , id = { 104, 105, 106, 107 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|ADDR|CPU|IDENTIFIER|DATA_SRC|WEIGHT, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 2, sample_id_all = 1
  # event : name = r20d1:up, , id = { 108, 109, 110, 111 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 1, sample_id_all = 1
  # event : name = cpu-clock:ppp, , id = { 112, 113, 114, 115 }, type = 1, size = 128, { sample_period, sample_freq } = 4000, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, enable_on_exec = 1, precise_ip = 3, sample_id_all = 1
  # pmu mappings: software = 1, tracepoint = 2, cpu = 4, breakpoint = 5
  # time of first sample : 1000.000010
  # time of last sample : 1000.055910
  # sample duration :     55.900 ms
  # compressed : Zstd, level = 1, ratio = 0
  # missing features: TRACING_DATA BUILD_ID CPUID TOTAL_MEM CPU_TOPOLOGY NUMA_TOPOLOGY BRANCH_STACK GROUP_DESC AUXTRACE STAT CACHE MEM_TOPOLOGY CLOCKID DIR_FORMAT BPF_PROG_INFO BPF_BTF CPU_PMU_CAPS CLOCK_DATA HYBRID_TOPOLOGY PMU_CAPS 
  # ========
  #
  mode --pipe --compression-level 19
  r20d1:upp
  # ========
  # captured on    : Thu Nov 26 09:27:56 2026
  # header version : 1
  # data offset    : 0
  # data size      : 0
  # feat offset    : 0
  # ========
  #
  # hostname : synthetic
  # os release : synthetic
  # perf version : skidscan synth 0.1.0
  # arch : x86_64
  # nrcpus online : 4
  # nrcpus avail : 4
  # cpudesc : a model, no CPU
  # cmdline : skidscan synth everything -e r20d1:u -e r20d1:upp -e r20d1:up -e cycles:ppp 
  # event : name = r20d1:u, , id = { 100, 101, 102, 103 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, mmap = 1, comm = 1, enable_on_exec = 1, task = 1, sample_id_all = 1, mmap2 = 1, comm_exec = 1
  # event : name = r20d1:upp, , id = { 104, 105, 106, 107 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|ADDR|CPU|IDENTIFIER|DATA_SRC|WEIGHT, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 2, sample_id_all = 1
  # event : name = r20d1:up, , id = { 108, 109, 110, 111 }, type = 4, size = 128, config = 0x20d1, { sample_period, sample_freq } = 1009, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, exclude_kernel = 1, exclude_hv = 1, enable_on_exec = 1, precise_ip = 1, sample_id_all = 1
  # event : name = cpu-clock:ppp, , id = { 112, 113, 114, 115 }, type = 1, size = 128, { sample_period, sample_freq } = 4000, sample_type = IP|TID|TIME|CPU|IDENTIFIER, disabled = 1, inherit = 1, enable_on_exec = 1, precise_ip = 3, sample_id_all = 1
  # pmu mappings: software = 1, tracepoint = 2, cpu = 4, breakpoint = 5
  # compressed : Zstd, level = 19, ratio = 0
