Data breakpoints: their data addresses, and those of another program in `skidscan audit`.

  $ . "$CASES/common.sh"
  $ needs cc nm samples breakpoints

Their data addresses repeat the request:

  $ skidscan record -e access -p pp --samples 4000 -q -o a.run
  $ skidscan report a.run --format json > json
  $ pick < json measurements.0.address.source measurements.0.address.cause
  measurements.0.address.source = "request"
  measurements.0.address.cause = "not judged"
  $ holds < json '"repeats the request" in j["measurements"][0]["address"]["remark"]'

Breakpoints of another program are judged by the preceding instruction. It touches one datum in a loop that does
other things, too.

  $ cat > watcher.c <<'END'
  > volatile long watched;
  > int main(void) {
  >   long sum = 0;
  >   for (int i = 0; i < 2000; ++i) {
  >     watched = i;
  >     for (int j = 0; j < 50; ++j) __asm__ volatile("add %0, %0" : "+r"(sum));
  >     sum ^= watched + i;
  >   }
  >   return (int)(sum & 1);
  > }
  > END
  $ cc -g -O1 -no-pie -Wl,--build-id=sha1 -o watcher watcher.c
  $ address=$(nm watcher | sed -n 's/ B watched$//p')
  $ for access in rw w; do
  >   perf_record -c 1 -e mem:0x$address/8:$access:u -- ./watcher
  >   skidscan audit perf.data --format json > json
  >   pick recordings.0.events.0 < json | sed 's/^[^{]*//' > event
  >   holds < event 'j["samples"] >= 1000' 'j["impossible"] == 0' 'j["judged"] >= 0.9 * j["samples"]'
  > done
