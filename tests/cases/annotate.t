`skidscan annotate` on programs that are recorded here, and against perf annotate.

  $ . "$CASES/common.sh"
  $ needs cc samples
  $ source=$CASES/../support/annotated.c
  $ record() { # NAME OPTION...: builds the program as NAME and records it into NAME.data
  >   name=$1; shift
  >   cc "$@" -o $name "$source"
  >   perf_record -e cpu-clock -c 1000003 -- ./$name > /dev/null
  >   mv perf.data $name.data
  > }
  $ record program -g -O1
  $ spin() { skidscan annotate program.data --function spin "$@"; }

The counts are those of perf annotate ("   19.28 :   1192:   xor    %rcx,%rax"), with source lines:

  $ perf annotate --stdio -i program.data spin 2> /dev/null |
  >   awk '$2 == ":" && $1 > 0 { sub(":", "", $3); print "0x" $3, $1 }' | sort > wanted
  $ [ -s wanted ] || skip 'perf annotate shows nothing here'
  $ spin --source --format json > json
  $ cat > counts.py <<'END'
  > import json
  > code, = json.load(open("json"))["codes"]
  > rows = [(row["begin"], row["counts"][0]["samples"], row["source"]) for row in code["rows"]]
  > total = code["columns"][0]["samples"]
  > ours = {begin: 100 * samples / total for begin, samples, _ in rows if samples}
  > theirs = dict(line.split() for line in open("wanted"))
  > assert total > 50 and total == sum(samples for _, samples, _ in rows)
  > assert ours.keys() == theirs.keys(), (ours, theirs)
  > for begin, percent in theirs.items():
  >     assert abs(ours[begin] - float(percent)) <= 0.0051, (begin, ours[begin], percent)
  > sources = [source for _, samples, source in rows if samples and source]
  > assert sources and all(each["file"].endswith("annotated.c") for each in sources)
  > text = open(sources[0]["file"]).read()
  > assert all(each["text"] in text for each in sources)
  > END
  $ "$PYTHON" counts.py
  $ spin --source > text
  $ grep -o -e 'sum ^= sum << 13;' -e 'annotated.c:9' -e '<abort@plt>' text | sort -u
  <abort@plt>
  annotated.c:9
  sum ^= sum << 13;
  $ grep "$(printf '\033')" text
  [1]

Instructions without samples are folded, unless --all lists them:

  $ spin --all --format json > all
  $ spin --context 0 --format json > folded
  $ holds < all 'len(j["codes"][0]["rows"]) == j["codes"][0]["instructions"]'
  $ holds < folded 'len(j["codes"][0]["rows"]) < j["codes"][0]["instructions"]' \
  >   'sum(r["instructions"] for r in j["codes"][0]["rows"]) == j["codes"][0]["instructions"]' \
  >   'not any(r["counts"][0]["samples"] for r in j["codes"][0]["rows"] if r["instructions"] > 1)'

Functions that were sampled are listed where the named one has no sample:

  $ skidscan annotate program.data --function spni 2> err
  [1]
  $ grep -o -e "'spni': no sample is in a function of that name" -e 'like names: spin' err
  'spni': no sample is in a function of that name
  like names: spin
  $ skidscan annotate program.data --function never_called 2> err
  [1]
  $ grep -o "'never_called': no sample is in it; it is in " err
  'never_called': no sample is in it; it is in 
  $ spin --module libc.so.6 2> /dev/null
  [1]
  $ spin > text
  $ spin --module program | cmp - text
  $ skidscan annotate program.data 2> err | cmp - text
  $ grep -o 'the first of which is shown: spin' err
  the first of which is shown: spin

A program that was moved is found:

  $ spin --format json | pick codes.0.rows > rows
  $ mkdir -p "root$PWD" cache; mv program "root$PWD"
  $ spin --buildid-dir cache --symfs root --format json > json
  $ pick codes.0.rows < json | cmp - rows
  $ holds < json "j['codes'][0]['module'] == '$PWD/program'" \
  >   "j['codes'][0]['file'].endswith('root$PWD/program')"
  $ mv "root$PWD/program" .

Several recordings are side by side; functions of one name in two programs are two listings:

  $ cp program.data copy.data
  $ skidscan annotate program.data copy.data --function spin --format json > json
  $ holds < json 'len(j["codes"]) == 1' \
  >   'all([c["samples"] for c in r["counts"]] == [r["counts"][0]["samples"]] * 2 for r in j["codes"][0]["rows"])'
  $ skidscan annotate program.data copy.data --function spin > text
  $ grep -o -e 'none a  ' -e 'none b$' text | sort -u
  none a  
  none b
  $ record other -O2
  $ skidscan annotate program.data other.data --function spin --format json > json
  $ holds < json '[len(code["columns"]) for code in j["codes"]] == [1, 1]'

Unreadable inputs are reported, and the rest shown; the events of a pipe are known only when it is read:

  $ head -c -3000 program.data > cut.data
  $ skidscan annotate missing --function main
  skidscan: missing: no such file or directory
  [1]
  $ skidscan annotate missing cut.data --function no_such 2> err
  [1]
  $ grep -o -e '^skidscan: missing' -e 'cut.data: at offset' -e 'no sample is in a function of that name' err |
  >   uniq
  skidscan: missing
  cut.data: at offset
  no sample is in a function of that name
  $ skidscan annotate missing program.data --function spin > one 2> /dev/null
  [2]
  $ spin | cmp - one
  $ skidscan synth --like gregg-2017 --pipe -q -o pipe.data
  $ skidscan annotate pipe.data --event r412e --format json -q > json
  $ holds < json '131 in [r["counts"][0]["samples"] for r in j["codes"][0]["rows"] if r["first_offset"] == 0]'

Wrong usage:

  $ skidscan annotate --module x
  skidscan: --module: restricts --function FUNCTION, or --by; add one of them
  [64]
  $ mkdir empty; (cd empty; skidscan annotate)
  skidscan: no skidscan.run and no perf.data here; make one with 'skidscan record' or 'perf record', or name a run or a recording
  [1]

Lines, functions and modules with their samples, as perf report counts them:

  $ theirs() { # SORT: "NUMBER NAME", of perf
  >   perf report -i program.data --stdio --no-children -s $1 -F sample,$1 2> /dev/null |
  >     sed -n 's/^ *\([0-9][0-9]*\)  */\1 /p' | sed 's/ \[[.k]\] / /; s/ *$//' | sort
  > }
  $ ours() { # UNIT EXPRESSION: of each place
  >   skidscan annotate program.data --by $1 --format json |
  >     "$PYTHON" -c "
  > import collections, json, os, sys
  > counts = collections.Counter()
  > for place in json.load(sys.stdin)['places']:
  >     counts[$2] += place['counts'][0]['samples']
  > print(*sorted(f'{samples} {name}' for name, samples in counts.items()), sep='\n')"
  > }
  $ ours module 'os.path.basename(place["module"] or "")' | grep ' program$' > ours.module
  $ theirs dso | grep ' program$' > theirs.module
  $ diff ours.module theirs.module
  $ ours function 'place["function"]' | grep -e ' spin$' -e ' main$' > ours.function
  $ theirs sym | grep -e ' spin$' -e ' main$' > theirs.function
  $ diff ours.function theirs.function
  $ ours line 'place["source"] and "{}:{}".format(os.path.basename(place["source"]["file"]), place["source"]["line"])' |
  >   grep annotated.c: > ours.line
  $ theirs srcline | grep annotated.c: > theirs.line
  $ [ -s theirs.line ] || skip 'perf report finds no source lines here'
  $ diff ours.line theirs.line
  $ [ $(wc -l < ours.line) -ge 2 ]
  $ skidscan annotate program.data --by line | grep -o 'samples (.*%) are in annotated.c:[0-9]*, spin of program'
  samples (*%) are in annotated.c:*, spin of program (glob)
  $ skidscan annotate program.data --by function --module program --format csv | cut -d, -f13 | sort -u |
  >   sed "s,$PWD/,,"
  program
  module

Lines of inlined functions name those into which they were inlined, one after the other; the sums stay those of the
recording, and the sentence of the audit is above them.

  $ cat > inlined.c <<'END'
  > #define INLINE static inline __attribute__((always_inline))
  > INLINE unsigned long step(unsigned long x) { return x * 6364136223846793005ul + (x >> 7); }
  > INLINE unsigned long twice(unsigned long x) { return step(step(x) ^ 5); }
  > __attribute__((noinline)) unsigned long work(unsigned long n) {
  >   unsigned long x = n;
  >   for (unsigned long i = 0; i < n; ++i) x = twice(x) + step(i);
  >   return x;
  > }
  > int main(void) { return work(100000000) == 0; }
  > END
  $ cc -g -O2 -o inlined inlined.c
  $ perf_record -e cpu-clock:u -F 2000 -- ./inlined
  $ skidscan annotate perf.data --by line --module inlined --format json > json
  $ holds 'any(p["inlined"] == ["step", "twice"] and p["source"]["line"] == 2 for p in j["places"])' \
  >   'all(p["function"] == "work" for p in j["places"] if p["inlined"])' < json
  $ skidscan annotate perf.data --by line --format json | holds 'sum(c["samples"] for p in j["places"]
  >   for c in p["counts"]) == sum(c["samples"]["read"] for c in j["columns"])'
  $ COLUMNS=140 skidscan annotate perf.data --by line > text
  $ grep -o "step in twice in work" text | sort -u
  step in twice in work
  $ grep '^audit' text
  audit      a timer took all * samples, wherever the program was;* (glob)
  $ skidscan annotate perf.data perf.data --by function | grep '^audit'
  [1]
  $ cp perf.data large.data; truncate -s 40M large.data
  $ skidscan annotate large.data --by line 2> errors | grep -A1 '^audit'
  audit      'skidscan audit large.data' judges whether the samples are at the
             instructions that caused them

Functions of a stripped program are at the addresses that nm prints before:

  $ cp program stripped; strip stripped
  $ perf_record -e cpu-clock -c 1000003 -- ./stripped > /dev/null
  $ skidscan annotate perf.data --by function --format csv | awk -F, '$13 ~ /stripped/ { print $15; exit }' > address
  $ nm program | sed -n 's/^0*\(.*\) [tT] spin$/0x\1/p' | diff address -

Its functions are chosen and named by their addresses:

  $ skidscan annotate perf.data --function $(cat address) --module stripped --format json |
  >   holds 'j["codes"][0]["begin"] == "'$(cat address)'"' 'j["codes"][0]["instructions"] > 3'
  $ skidscan annotate perf.data 2>&1 > text | grep -o "first of which is shown: $(cat address)" | sed 's/0x.*/0x/'
  first of which is shown: 0x
  $ skidscan annotate perf.data --by line | tr -s '\n ' ' ' | grep -c 'no line table for the samples in .*stripped: compile with -g'
  1
  $ skidscan annotate perf.data --by function | tr -s '\n ' ' ' | grep -c 'no symbol for the samples in .*stripped: compile with -g'
  1
  $ skidscan annotate perf.data --function $(cat address) --module stripped | grep -o '^no symbol  compile with -g'
  no symbol  compile with -g

Of a program that is gone, the first sentence names it; without any known function, the next step follows:

  $ cp stripped gone
  $ perf_record -e cpu-clock -c 1000003 -- ./gone > /dev/null
  $ rm gone
  $ skidscan annotate perf.data --event cpu-clock --by function 2> /dev/null | head -n 1 | grep -o 'code of gone'
  code of gone
  $ skidscan annotate perf.data --event cpu-clock --by line 2> /dev/null | tr -s '\n ' ' ' |
  >   grep -o -e 'missing: [^ ]*/gone; --binary FILE and --symfs DIR take a copy' -e 'no line table.*/gone' | sed 's|/.*/|/|'
  missing: /gone; --binary FILE and --symfs DIR take a copy
  $ skidscan annotate perf.data > text 2> errors || true
  $ cat text errors | tr '\n' ' ' | grep -c -e 'code of gone whose symbols are not known; ' -e '--by module lists the files'
  1

The sentence is on one event, and a recording that ends early is read in part, with each message once. With one buffer,
that of the thread, the mappings are at its beginning:

  $ perf_record --per-thread -e cpu-clock,page-faults -c 100003 -- ./program > /dev/null
  $ skidscan annotate perf.data --function spin | head -n 1 | grep -o 'samples of cpu-clock'
  samples of cpu-clock
  $ head -c $(($(wc -c < perf.data) / 2)) perf.data > cut.data
  $ skidscan annotate cut.data 2> errors | grep -o '^read in part: '
  read in part: 
  $ grep -o 'the file ends after [0-9]* bytes of records, expected [0-9]* by its header' errors
  the file ends after * bytes of records, expected * by its header (glob)
  $ skidscan report cut.data 2> /dev/null | grep -o '^read in part: '
  read in part: 
