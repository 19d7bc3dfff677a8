No sound machine of tests/sound_machines is accused. On none, nor on one of each kind with a fault, does audit call a
hit of report impossible, or does compare take other hits than those that the verdict judges.

  $ . "$CASES/common.sh"
  $ needs cc
  $ some=
  $ for one in core2 ivy-bridge skylake sapphire-rapids alder-lake-e guest-without-baseline zen4 neoverse-n1; do
  >   some="$some --machine $one"
  > done
  $ for fault in '' "$some --fault late" "$some --fault source"; do
  >   "$PYTHON" "$CASES/../sound_machines/study.py" "$SKIDSCAN" --samples 4000 --keep . $fault > table || cat table
  > done
