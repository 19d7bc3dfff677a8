The figure of `skidscan report --example` is marked as emulated and shows all precise levels.

  $ . "$CASES/common.sh"
  $ needs gnuplot
  $ skidscan report --example --plot figure.svg > /dev/null
  $ grep -o '<text>Where samples land (EMULATED)' figure.svg
  <text>Where samples land (EMULATED)
  $ grep -o -E '(none|p|pp|ppp):  hits [0-9]+%' figure.svg | sort -u
  none:  hits 0%
  p:  hits 0%
  pp:  hits 100%
  ppp:  hits 100%
