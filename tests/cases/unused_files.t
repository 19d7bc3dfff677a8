A file that --binary names is said to be unused only if none of the recordings used it.

  $ . "$CASES/common.sh"
  $ needs cc samples
  $ for each in 1 2 3; do
  >   mkdir program$each copy$each
  >   echo "volatile long n; int main(void) { n += $each; return 0; }" > prog.c
  >   cc -O1 -Wl,--build-id=sha1 -o program$each/prog prog.c
  > done
  $ record() { perf_record -e page-faults:u -c 1 -- "$@"; }
  $ record program1/prog && mv perf.data 1.data
  $ record program2/prog && mv perf.data 2.data
  $ record sh -c 'program1/prog; program2/prog' && mv perf.data both.data
  $ for each in 1 2 3; do mv program$each/prog copy$each; done
  $ unused() { # RECORDING...: what each command says of the files
  >   for command in samples audit report 'annotate --by function'; do
  >     skidscan $command "$@" --binary copy3/prog --binary copy1/prog --binary copy2/prog 2>&1 |
  >       grep -o 'copy./prog: not used' | sed "s/^/$command: /"
  >   done
  > }
  $ unused 1.data 2.data
  samples: copy3/prog: not used
  audit: copy3/prog: not used
  report: copy3/prog: not used
  annotate --by function: copy3/prog: not used
  $ unused both.data
  samples: copy3/prog: not used
  audit: copy3/prog: not used
  report: copy3/prog: not used
  annotate --by function: copy3/prog: not used
