Figures of `skidscan report` and `skidscan compare`.

  $ . "$CASES/common.sh"
  $ needs cc gnuplot
  $ for model in pebs-shadow vm-broken; do
  >   skidscan synth --like $model --all-levels -o $model > /dev/null
  > done
  $ lacks() { # FILE TEXT...: the texts that a file lacks
  >   file=$1; shift
  >   for text; do grep -q -F -e "$text" "$file" || echo "$text"; done
  > }

Each kind has its texts:

  $ draw() { # KIND TEXT...
  >   kind=$1; shift
  >   skidscan report pebs-shadow --kind $kind --plot f.svg > /dev/null
  >   lacks f.svg '(SYNTHETIC)' MEM_INST_RETIRED.ALL_LOADS '10000 samples' 'period 10007' \
  >     'a model of a Sapphire Rapids' 'the skid constraint of precise_ip is ' "$@"
  >   skidscan compare pebs-shadow vm-broken --kind $kind --plot-script f.gp > /dev/null
  >   lacks f.gp 'a model of a Sapphire Rapids'
  > }
  $ draw histogram 'Where samples land' samples 'offset from trigger (instructions)'
  $ draw cdf 'Samples up to each offset' 'located samples up to here' censored
  $ draw breakdown 'by class' 'share of the samples read' skid hit
  $ draw forest 'Hit ratios' 'hit ratio' '95% interval'
  $ draw bias 'Which trigger' 'max/min 9.03' 'share of samples' 'even share'

The kind of each command:

  $ skidscan report vm-broken --plot f.svg > /dev/null
  $ lacks f.svg 'Where samples land'
  $ skidscan compare vm-broken pebs-shadow --plot f.svg > /dev/null
  $ lacks f.svg 'Hit ratios' '(baseline)'

Size, font and parts that are chosen:

  $ echo "set style line 3 lc rgb '#123456'" > look.gp
  $ skidscan report pebs-shadow --kind cdf -e r81d0 -p pp,ppp --size 3.3inx8cm --font Serif,8 \
  >   --title Loads --plot-settings look.gp --plot f.svg > /dev/null
  $ lacks f.svg 'width="317" height="302"' '"Serif"' '<title>Loads (SYNTHETIC)</title>' \
  >   'rgb( 18,  52,  86)' '>ppp<' '>none<' gnuplot_plot
  >none<
  gnuplot_plot
  $ skidscan report pebs-shadow --no-caption --plot f.svg > /dev/null
  $ lacks f.svg '<text>Where samples land' 'Sapphire Rapids' '>ppp:  hits 100%<'
  <text>Where samples land
  Sapphire Rapids
  $ grep -o '<text>(SYNTHETIC)' f.svg
  <text>(SYNTHETIC)
  $ skidscan report pebs-shadow --size 3.3in --plot f.svg > /dev/null \
  >   --title 'Loads on a model of Sapphire Rapids with a shadow, at all levels'
  $ grep -o -e '<text>Loads on a model [^<]*' -e '<text>[^<]*SYNTHETIC)' f.svg
  <text>Loads on a model of Sapphire Rapids with a
  <text>shadow, at all levels (SYNTHETIC)

A title that is cut leaves the mark whole:

  $ skidscan report pebs-shadow --size 3.3in --plot f.svg > /dev/null \
  >   --title "$(printf 'Loads on a model of Sapphire Rapids %.0s' 1 2 3 4 5 6 7 8)"
  $ grep -o '<text>(SYNTHETIC)' f.svg
  <text>(SYNTHETIC)
  $ skidscan report pebs-shadow -e cycles --plot f.png > /dev/null
  skidscan: figure: nothing was measured of these events at these levels; expected some of MEM_INST_RETIRED.ALL_LOADS none, p, pp, ppp
  [1]

A height that leaves no room for plots:

  $ skidscan report pebs-shadow --size 3.3inx1in --plot f.png 2>&1 > /dev/null | sed 's/ which need.*//'
  skidscan: figure: 96 px of height are too few for 2 rows of plots with their texts,

The script is short beside its data:

  $ skidscan report pebs-shadow --plot-script f.gp > /dev/null
  $ [ "$(grep -v -e '^[-0-9.e+ ]*$' -e '^\$' f.gp | wc -l)" -lt 65 ]

Options of other kinds, and wrong ones:

  $ rm f.svg f.gp
  $ for kind in cdf breakdown forest bias delay; do
  >   for option in --log '--plot-style overlaid'; do
  >     skidscan report vm-broken --plot f.png --kind $kind $option 2> err
  >     echo "$? $(sed 's/;.*//' err)"
  >   done
  > done
  64 skidscan: --log: is for histograms, the figure is of kind cdf
  64 skidscan: --plot-style: is for histograms, the figure is of kind cdf
  64 skidscan: --log: is for histograms, the figure is of kind breakdown
  64 skidscan: --plot-style: is for histograms, the figure is of kind breakdown
  64 skidscan: --log: is for histograms, the figure is of kind forest
  64 skidscan: --plot-style: is for histograms, the figure is of kind forest
  64 skidscan: --log: is for histograms, the figure is of kind bias
  64 skidscan: --plot-style: is for histograms, the figure is of kind bias
  64 skidscan: --log: is for histograms, the figure is of kind delay
  64 skidscan: --plot-style: is for histograms, the figure is of kind delay
  $ skidscan compare vm-broken pebs-shadow --plot f.png --log
  skidscan: --log: is for histograms, the figure is of kind forest; leave it out or add --kind histogram
  [64]
  $ for options in '--kind cdf' --log '--plot-style overlaid' '--size 3in'; do
  >   skidscan report vm-broken $options || echo "[$?]"
  > done
  skidscan: --kind: no figure is drawn; add --plot FILE or --plot-script FILE
  [64]
  skidscan: --log: no figure is drawn; add --plot FILE or --plot-script FILE
  [64]
  skidscan: --plot-style: no figure is drawn; add --plot FILE or --plot-script FILE
  [64]
  skidscan: --size: no figure is drawn; add --plot FILE or --plot-script FILE
  [64]
  $ for size in 3 0in 3inx 3ft 3inx4ft 99999px; do
  >   skidscan report vm-broken --plot f.png --size $size 2> err; echo "$? $(sed 's/ of .*//' err)"
  > done
  64 skidscan: --size 3: expected a width
  64 skidscan: --size 0in: expected a width
  64 skidscan: --size 3inx: expected a width
  64 skidscan: --size 3ft: expected a width
  64 skidscan: --size 3inx4ft: expected a width
  64 skidscan: --size 99999px: expected a width
  $ skidscan report vm-broken --plot f.png --kind pie
  skidscan: --kind pie: expected histogram, cdf, breakdown, forest, bias, delay; try 'skidscan report --help'
  [64]
  $ skidscan report vm-broken --plot f.png --font Sans,1000
  skidscan: --font Sans,1000: expected points from 3 to 100 after the comma
  [64]
  $ skidscan report vm-broken --plot f.png -p pppp
  skidscan: --precise pppp: expected none, p, pp, ppp; try 'skidscan report --help'
  [64]
  $ skidscan report vm-broken --plot f.bmp
  skidscan: f.bmp: not the name of a figure; expected .png, .svg or .pdf
  [64]
  $ skidscan report vm-broken --plot-script f.pdf
  skidscan: f.pdf: is the name of a figure; expected that of a script, as in skid.gp
  [64]
  $ skidscan report vm-broken --kind bias --plot f.png > /dev/null
  skidscan: figure bias: no measurement with several triggers at known distances (6 others); record a target with several
  [64]
  $ ls f.*
  ls: cannot access 'f.*': No such file or directory
  [2]
