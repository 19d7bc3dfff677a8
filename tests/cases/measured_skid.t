`skidscan correct --skid` on synthetic samples of level 1, whose truth is placed.

  $ . "$CASES/common.sh"
  $ needs cc x86-64

Two loads of a Skylake, and code that cannot load:

  $ cat > loads.s <<'END'
  >   .text
  >   .globl loads
  >   .type loads, @function
  > loads:
  >   movq (%rdi), %rax
  >   addq %rbx, %rax
  >   movq 8(%rdi), %rcx
  >   subq %rbx, %rcx
  >   imulq %rbx, %rcx
  >   ret
  >   .size loads, . - loads
  >   .section .note.GNU-stack,"",@progbits
  > END
  $ cc -shared -Wl,--build-id=sha1 -o loads.so loads.s
  $ skidscan synth --like pebs-sound --all-levels -q -o sound.run
  $ place() { # LEVEL EXACT [STEPPING [CONFIG [WRONG]]]: samples of loads at the offsets of their successors
  >   cat > places.json <<END
  > {"binary": "loads.so",
  >  "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": ${3:-3}},
  >  "events": [{"event": "r81d0", "config": "${4:-0x81d0}", "period": 10007, "levels": [
  >    {"level": $1, "places": [
  >      {"symbol": "loads", "offset": 3, "samples": 3000, "exact": $2},
  >      {"symbol": "loads", "offset": 10, "samples": 1000, "exact": $2},
  >      {"symbol": "loads", "offset": 6, "samples": $((${5:-0} + 1)), "exact": $2}]}]}]}
  > END
  >   "$PLACE_SAMPLES" places.json placed.data --force
  > }
  $ export PYTHONPATH=$CASES
  $ outcome() { # OPTION...: of the correction
  >   skidscan correct placed.data "$@" --format json -q > json
  >   "$PYTHON" -c 'from corrected import event; print(event()["verdict"], event()["reason"])'
  > }

It is taken out, but for one sample that nothing explains:

  $ place 1 false
  $ outcome --skid sound.run
  corrected None
  $ "$PYTHON" -c 'from corrected import event, places
  > print(event()["skid"]["source"], event()["unexplained"])
  > print({name: place["corrected"] for name, place in places(event()).items() if place["corrected"]})'
  measured 1
  {'loads+0': 3000, 'loads+6': 1001}
  $ skidscan correct placed.data --skid sound.run > text
  $ grep -o 'CPU model same' text
  CPU model same

It has to be of the same machine and event, and is asked for:

  $ outcome | cut -c1-7
  refused
  $ place 1 false 4
  $ outcome --skid sound.run | grep -o -e refused -e 'CPU stepping'
  refused
  CPU stepping
  $ place 1 false 3 0x20d1
  $ outcome --skid sound.run | grep -o 'no measurement of this event'
  no measurement of this event

It is not taken out of exact samples, and refused where it does not fit:

  $ place 2 true
  $ outcome --skid sound.run | grep -o -m 1 EXACT_IP
  EXACT_IP
  $ place 1 false 3 0x81d0 5000
  $ outcome --skid sound.run | grep -o 'the sampled instructions explain the event better'
  the sampled instructions explain the event better
