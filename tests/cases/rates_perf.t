`skidscan rates` on what perf stat prints here, in its two forms, repeated and in intervals.

  $ . "$CASES/common.sh"
  $ needs counts
  $ for options in -x, -j '-r 3 -x,' '-r 3 -j' '-I 10 -x,' '-I 10 -j'; do
  >   perf stat -o out -e task-clock,page-faults:u,page-faults $options -- sleep 0.02
  >   skidscan rates < out > /dev/null || echo "standard input fails for $options"
  >   skidscan rates out --format json > json
  >   pick < json form | sed "s/^/$options: /"
  >   pick < json events.# events.0.name events.2.name remarks warnings
  >   pick < json events.0.value events.2.value | awk '{ print $1, ($3 > (/0.value/ ? 0 : 10)) ? "counted" : "too few: " $3 }'
  > done | sort | uniq -c
        1 -I 10 -j: form = "json"
        1 -I 10 -x,: form = "separated"
        1 -j: form = "json"
        1 -r 3 -j: form = "json"
        1 -r 3 -x,: form = "separated"
        1 -x,: form = "separated"
        6 events.# = 3
        6 events.0.name = "task-clock"
        6 events.0.value counted
        6 events.2.name = "page-faults"
        6 events.2.value counted
        6 remarks = []
        6 warnings = []
