What report prints of few samples, and what `--fail-on broken` does with them.

  $ . "$CASES/common.sh"
  $ needs cc
  $ model() { # SAMPLES HITS [EXACT_IP MODEL]: loads of a Skylake, or of an Ivy Bridge, at level 2
  >   cat > model.json <<END
  > {"schema": "skidscan.model/1", "name": "few", "seed": 7, "target": {"arch": "x86_64", "trigger": "load", "nops": 600},
  >  "machine": {"vendor": "GenuineIntel", "family": 6, "model": ${4:-94}, "stepping": 3, "exact_ip": "${3:-requested}"},
  >  "events": [{"event": "${5:-r81d0}:u", "period": 10007, "levels": [{"level": 2, "samples": $1, "hits": $2,
  >     "offsets": {"kind": "constant", "offset": 3}}]}]}
  > END
  >   skidscan synth model.json --force -q -o m.data
  >   status=0
  >   skidscan report m.data --fail-on broken > text 2> err || status=$?
  >   sed '/^$/q' text
  >   cat err
  >   return $status
  > }

Everything is wrong: two samples show it.

  $ model 3800 0
  the skid constraint of precise_ip is not met by 1 of 1 judged measurement: r81d0
  pp
  
  skidscan: --fail-on broken: the contract of 1 of 1 measurements is broken
  [4]
  $ model 2 0 | grep -c 'is not met'
  1
  $ model 1 0
  the samples do not decide whether the skid constraint of precise_ip is met; 1
  measurement is undecided: r81d0 pp; record about 3,900 samples (--samples 3900)
  
  skidscan: --fail-on broken: the samples do not decide whether the skid constraint of precise_ip is met; 1 measurement is undecided: r81d0 pp; record about 3,900 samples (--samples 3900); --allow-not-judged accepts that
  [5]

All is right, and too few show nothing:

  $ model 1000 1 > printed
  [5]
  $ head -n 2 printed
  the samples do not decide whether the skid constraint of precise_ip is met; 1
  measurement is undecided: r81d0 pp; record about 3,900 samples (--samples 3900)
  $ skidscan report m.data --fail-on broken --allow-not-judged > /dev/null
  $ skidscan report m.data --format json | pick measurements.0.contract.remedy.samples
  measurements.0.contract.remedy.samples = 3900

Half of the samples of an Ivy Bridge were not led back by the kernel. They break nothing, and nothing is certified:

  $ model 8000 0.5 rewound 58 r81d0
  the skid constraint of precise_ip is met by the one judged measurement: r81d0
  pp; the kernel did not correct 3988 of 8000 samples (49.85%) of r81d0 pp
  
  $ grep -o 'kept.*' text | head -n 1
  kept, 3988 of 8000 (49.85%) not corrected

A filter that selects nothing gives 1 although `--allow-not-judged` accepts that nothing is judged:

  $ model 5 1 > /dev/null || true
  $ skidscan audit m.data --comms typo --fail-on impossible --allow-not-judged > /dev/null 2>&1
  [1]
