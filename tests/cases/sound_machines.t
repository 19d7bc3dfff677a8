What report says of synthetic machines that are sound, and of some with one fault: tests/sound_machines/study.py
makes them and reports on them; here are the verdicts that must hold.

  $ . "$CASES/common.sh"
  $ needs cc
  $ study() { "$PYTHON" "$CASES/../sound_machines/study.py" "$SKIDSCAN" --samples 4000 --keep . "$@"; }
  $ verdicts() { # MACHINE TRIGGER EVENT [OPTION...]: of the event, by level; of close triggers whether they are even, too
  >   machine=$1 trigger=$2 event=$3; shift 3
  >   study --machine $machine --trigger $trigger "$@" |
  >     awk -F '\t' -v event="$event" 'NF >= 7 && $3 == event { print $4 ": " $5 ($7 == "-" ? "" : ", " $7) }'
  > }

Machines keep their contracts for loads. Without the PEBS baseline level 1 is the eventing IP, too.

  $ verdicts skylake load load
  0: not judged
  1: kept
  2: kept
  3: kept
  $ verdicts skylake load instructions
  0: not judged
  1: not judged
  2: not judged, even
  3: not judged, even
  $ verdicts guest-without-baseline load load
  0: not judged
  1: kept
  2: kept
  3: kept

For branches:

  $ verdicts alder-lake-e branch-taken 'taken branch'
  0: not judged
  1: kept
  2: kept
  3: kept
  $ verdicts guest-without-baseline branch-taken 'taken branch'
  1: refused
  2: refused
  3: refused
  0: not judged

They have even triggers at level 3 where it is distinct:

  $ verdicts sapphire-rapids close load
  2: kept, uneven
  3: kept, even, required
  $ verdicts skylake close load
  2: kept, uneven
  3: kept, uneven
  $ verdicts sapphire-rapids close load --fault shadowed
  2: kept, uneven
  3: kept, uneven, required

With precise distribution each (period)th event is sampled, with other PEBS each (period + 1)th. What resonates is not
judged, nor what might: level 2 may be on either kind of counter.

  $ verdicts granite-rapids close load --close 7 --period 1000
  2: kept
  3: kept, even, required
  $ verdicts granite-rapids close load --close 7 --period 1001
  2: kept
  3: kept, undecided, required
  $ verdicts granite-rapids close load --close 7 --period 1000 --fault shadowed
  2: kept
  3: kept, uneven, required
  $ skidscan report sapphire-rapids.close.run --fail-on broken > text
  skidscan: --fail-on broken: the contract of 1 of 2 measurements is broken
  [4]
  $ tr -s ' \n' ' ' < text | grep -o -e 'precise_ip is not met by 1 of 2 judged measurements: r81d0 ppp' \
  >   -e 'r81d0 ppp: samples of 13 triggers: uneven' -e 'broken, uneven' | sort -u
  broken, uneven
  precise_ip is not met by 1 of 2 judged measurements: r81d0 ppp
  r81d0 ppp: samples of 13 triggers: uneven

Those of which IBS samples every operation are judged by the samples that carry the address of the trigger's data:

  $ verdicts zen4 load-dram cycles
  3: refused
  0: not judged
  1: undecided
  2: undecided
  $ verdicts zen4 load 'tagged load'
  0: kept
  $ verdicts zen4 load 'tagged load' --fault late
  0: broken

With a fault they are broken. Three samples in a hundred that were not led back say so on Ivy Bridge. Where
something else caused what was sampled, that decides nothing of the level.

  $ verdicts skylake load load --fault late
  0: not judged
  1: kept
  2: broken
  3: broken
  $ verdicts skylake load load --fault spread
  0: not judged
  1: broken
  2: broken
  3: broken
  $ verdicts skylake load load --fault constant
  0: not judged
  1: broken
  2: kept
  3: kept
  $ verdicts ivy-bridge load load
  0: not judged
  1: kept
  2: kept
  3: kept
  $ verdicts guest-without-baseline load load --fault dropped
  0: not judged
  1: not judged
  2: not judged
  3: not judged
  $ verdicts skylake load load --fault source
  0: not judged
  1: kept
  2: broken
  3: broken
  $ verdicts skylake load-dram 'L3 miss' --fault address
  0: not judged
  1: undecided
  2: undecided
  3: undecided
