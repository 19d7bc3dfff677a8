# The look of figures. --plot-settings FILE runs FILE after this.
set encoding utf8
set border 3 lw 0.5
set tics nomirror out scale 0.5
set style fill solid noborder
set errorbars 0; set pointsize 0.6
set title offset 0,-0.4; set style textbox opaque noborder margins 0.3,0.2
# Lines of precise levels (none, p, pp, ppp) and of others: Okabe and Ito's colours.
set style line 1 lw 1.5 dt 1 pt 7 lc rgb 'black'
set style line 2 lw 1.5 dt 2 pt 7 lc rgb '#E69F00'
set style line 3 lw 1.5 dt 4 pt 7 lc rgb '#0072B2'
set style line 4 lw 1.5 dt 5 pt 7 lc rgb '#D55E00'
set style line 5 lw 1.5 dt 3 pt 7 lc rgb '#777777'
# Names of lines 1 to 5: the same colours, dark enough for text on white (WCAG 2.1: 4.5:1).
array ink[5] = ['black', '#8A5A00', '#0072B2', '#B23A00', '#5B6470']
# Machines, sides of comparisons.
do for [i=1:7] { set linetype i lc rgb word('#0072B2 #D55E00 #009E73 #E69F00 #CC79A7 #56B4E9 black', i) }
set linetype cycle 7
# Classes of samples: hit, skid, before, censored, other trigger, loop, other user, kernel, guest, unmapped.
array class[10] = ['#009E73', '#0072B2', '#E69F00', '#D55E00', '#CC79A7', '#56B4E9', 'black', '#444444', '#777777', '#F0E442']
# Data has a place and one column per class. upto(c): the samples of the first c classes; share(c): their share.
upto(c) = sum [i=2:c+1] column(i)
share(c) = upto(10) > 0 ? 100. * upto(c) / upto(10) : 0
max(a, b) = a > b ? a : b
# 1 if there is a bar of class c. Row 0 always has one, because gnuplot warns of data without any.
shown(c) = column(c+1) > 0 || column(0) == 0 ? 1 : NaN
