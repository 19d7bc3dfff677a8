No sound machine of tests/sound_machines is accused. On none, sound or with a fault, does audit call a hit of report
impossible, or does compare take other hits than those that the verdict judges.

  $ . "$CASES/common.sh"
  $ needs cc
  $ for fault in '' '--fault late' '--fault source'; do
  >   "$PYTHON" "$CASES/../sound_machines/study.py" "$SKIDSCAN" --samples 4000 --keep . $fault > table || cat table
  > done
