#!/bin/sh
# Installs missing packages, builds skidscan, and prints what can be sampled on this machine. Records the default
# set of events, reports and draws it (skidscan.png). Where no precise level can be judged, as without a PMU, the run
# of an emulated CPU that comes with skidscan shows them all (skidscan-example.png).
# exit status: 0 also where this machine can sample nothing, or perf cannot be installed
set -eu
cd "$(dirname "$0")/.."

scripts/install-dependencies.sh run || scripts/install-dependencies.sh build
scripts/configure.sh build -DSKIDSCAN_TESTS=OFF
cmake --build build

# doctor: 0 and 3 where something can be sampled, 1 where nothing can.
sampled=0
build/skidscan doctor --no-pager || sampled=$?
figures=
judged=5
case $sampled in
  0 | 3)
    echo
    build/skidscan record
    build/skidscan report --no-pager --plot skidscan.png
    figures="figure of this machine: $PWD/skidscan.png"
    # 5: no precise level was judged, or an event has no samples.
    judged=0
    build/skidscan report --fail-on broken >/dev/null 2>&1 || judged=$?
    ;;
  1) ;;
  *) exit "$sampled" ;;
esac
if [ "$judged" -eq 5 ]; then
  printf '\n%s\n\n' 'What the four precise levels give where they are judged, on an emulated Skylake with PEBS:'
  build/skidscan report --example --no-pager --plot skidscan-example.png
  figures="${figures:+$figures
}figure of the emulated CPU: $PWD/skidscan-example.png"
fi
echo "$figures" >&2
