Files that are not the recorded ones, in recordings without build-ids, are named and not used.

  $ . "$CASES/common.sh"
  $ needs cc samples
  $ build() { # NAME FUNCTION [TEXT]: a program that runs FUNCTION
  >   printf '%s\n' "$3" 'volatile unsigned long n;' "__attribute__((noinline)) void $2(void) {" \
  >     '  for (int i = 0; i < 1000; ++i) ++n;' '}' \
  >     "int main(void) { for (int i = 0; i < 50000; ++i) $2(); return 0; }" > $1.c
  >   cc -O1 -Wl,--build-id=none -o $1 $1.c
  > }
  $ record() { perf_record -B -e cpu-clock:u -c 1000003 -- "$@"; }
  $ names() { # OPTION...: the functions of the file "prog", and the remarks on it
  >   skidscan samples perf.data --dso "$PWD/prog,$PWD/prog (deleted)" --columns sym "$@" 2> err |
  >     sed '1d;s/^$/no name/;/^main$/d' | sort -u
  >   for what in 'is taken as it is now' 'is not the recorded' 'was deleted or replaced' \
  >     'segments are not those recorded'; do
  >     grep -q "prog: .*$what" err && echo "$what"
  >   done; true
  > }
  $ build outer outer_loop
  $ build inner inner_loop
  $ cp outer prog
  $ record ./prog
  $ names
  outer_loop
  is taken as it is now

A file that replaced the recorded one has another inode, in spite of the same path and segments:

  $ stat -f -c %T . | grep -q overlay && skip 'overlayfs does not show the recorded inodes'
  [1]
  $ mv prog kept
  $ cp inner prog
  $ names
  no name
  is not the recorded
  $ skidscan annotate perf.data --function inner_loop 2>&1 | grep -o 'prog: inode'
  prog: inode
  $ skidscan report perf.data 2>&1 | grep -o 'prog: inode' | sort -u
  prog: inode

What the user names is used:

  $ mkdir -p "root$PWD" copy
  $ cp outer "root$PWD/prog"
  $ cp outer copy/prog
  $ names --symfs root
  outer_loop
  is taken as it is now
  $ names --binary copy/prog
  outer_loop
  is taken as it is now

One that was written into the recorded file has other segments, if its code has another size:

  $ build large large_loop 'void unused(void) { __asm__ volatile(".fill 9000, 1, 0x90"); }'
  $ cat large > kept
  $ mv kept prog
  $ names
  no name
  segments are not those recorded

A program that was deleted while it ran:

  $ sed -i 's/50000/500000000/' outer.c inner.c
  $ cc -O1 -Wl,--build-id=none -o prog outer.c
  $ cc -O1 -Wl,--build-id=none -o inner inner.c
  $ cp prog copy/prog
  $ cp prog "root$PWD/prog"
  $ attach() { # PID: records a running program
  >   perf record --no-bpf-event -q -N -B -e cpu-clock:u -c 1000003 -o perf.data -p $1 -- sleep 0.2
  > }
  $ ./prog & pid=$!
  $ until grep -q "$PWD/prog" /proc/$pid/maps; do sleep 0.05; done
  $ rm prog
  $ attach $pid
  $ kill $pid
  $ names
  no name
  was deleted or replaced
  $ names --binary copy/prog
  outer_loop
  is taken as it is now
  $ names --symfs root
  outer_loop
  is taken as it is now
  $ skidscan annotate perf.data --function outer_loop --binary copy/prog 2> /dev/null |
  >   grep -c 'samples.*in outer_loop'
  1

A program in a mount namespace, as containers have them:

  $ cp copy/prog prog
  $ unshare -m true 2> /dev/null || exit 0
  $ unshare -m --propagation private sh -c "mount --bind '$PWD/inner' '$PWD/prog'; exec '$PWD/prog'" & pid=$!
  $ until grep -q "$PWD/prog" /proc/$pid/maps; do sleep 0.05; done
  $ attach $pid
  $ names
  no name
  is not the recorded
  $ names --symfs /proc/$pid/root
  inner_loop
  is taken as it is now
  $ kill $pid
