Recordings of `skidscan synth` in the eyes of perf, in every mode.

  $ . "$CASES/common.sh"
  $ needs cc perf
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
  >   if grep -q 'perf version' header; then
  >     grep -q 'skidscan synth' header && grep -q 'hostname : synthetic' header || cat header
  >   fi
  > done
  mode 
  r20d1:upp
  mode --pipe
  r20d1:upp
  mode -z
  r20d1:upp
  mode --pipe --compression-level 19
  r20d1:upp
