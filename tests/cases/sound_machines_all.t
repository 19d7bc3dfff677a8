No sound machine of tests/sound_machines is accused, and audit contradicts none, nor those whose samples are late.

  $ . "$CASES/common.sh"
  $ needs cc
  $ for fault in '' '--fault late'; do
  >   "$PYTHON" "$CASES/../sound_machines/study.py" "$SKIDSCAN" --samples 4000 --keep . $fault > table || cat table
  > done
