`skidscan doctor` on this machine; tests/unit/diagnosis_test.cpp has what it prints of others.

  $ . "$CASES/common.sh"
  $ skidscan doctor --format json > json || [ $? -eq 3 ] || [ $? -eq 1 ]
  $ pick < json schema
  schema = "skidscan.doctor/1"
  $ holds < json 'len(j["events"]) >= 4' 'all(len(e["answers"]) == 4 for e in j["events"])'
  $ skidscan doctor --format xml
  skidscan: --format xml: expected text, json; try 'skidscan doctor --help'
  [64]
  $ skidscan doctor --root /
  skidscan: --root: no such option; try 'skidscan doctor --help'
  [64]
