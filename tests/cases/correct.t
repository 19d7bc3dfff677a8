`skidscan correct` on real data breakpoints, whose truth is known by construction.

  $ . "$CASES/common.sh"
  $ needs cc setarch x86-64 samples breakpoints

Accesses of a datum, each with the offset in its function as the value of a symbol "site_NAME":

  $ cat > sites.s <<'END'
  >   .macro function name
  >   .globl \name
  >   .hidden \name
  >   .type \name, @function
  >   \name:
  >   .endm
  >   .macro site name, in
  >   .Lat_\name:
  >   .set site_\name, .Lat_\name - \in
  >   .endm
  >   .text
  >   .globl work
  >   .type work, @function
  > work:
  >   site store, work
  >   movq %rdi, watched(%rip)
  >   site increment, work
  >   incq watched(%rip)
  >   testq $1, %rdi
  >   je .Leven
  >   site odd, work
  >   movq watched(%rip), %rax
  >   jmp .Ljoin
  > .Leven:
  >   site even, work
  >   movq watched(%rip), %rcx
  > .Ljoin:
  >   nop
  >   site compare, work
  >   cmpq %rdi, watched(%rip)
  >   jne .Lother
  >   nop
  > .Lother:
  >   incq %rax
  >   site push, work
  >   pushq watched(%rip)
  >   site pop, work
  >   popq watched(%rip)
  >   leaq watched(%rip), %rsi
  >   leaq buffer(%rip), %rdi
  >   site movs, work
  >   movsq
  >   leaq watched(%rip), %rsi
  >   leaq buffer(%rip), %rdi
  >   movl $8, %ecx
  >   site rep, work
  >   rep movsb
  >   site before_call, work
  >   movb watched+7(%rip), %dl
  >   call callee
  >   incq %rax
  >   call tail
  >   movq unwatched(%rip), %rax
  >   pushq %rax
  >   popq %rax
  >   site before_return, work
  >   movq watched(%rip), %rax
  >   ret
  >   .size work, . - work
  > 
  >   function callee
  >   site in_callee, callee
  >   movq %rax, watched(%rip)
  >   ret
  >   .size callee, . - callee
  > 
  >   function tail
  >   site in_tail, tail
  >   movl %eax, watched+4(%rip)
  >   jmp callee
  >   .size tail, . - tail
  > 
  >   .globl joined
  >   .type joined, @function
  > joined:
  >   testb $3, %dil
  >   je .Lfalls
  >   site jump, joined
  >   jmp *pointer(%rip)
  >   nop
  > .Lfalls:
  >   site falls, joined
  >   movq pointer(%rip), %rax
  > .Lmeet:
  >   incq %rax
  >   ret
  >   .size joined, . - joined
  > 
  >   function apart
  >   testb $1, %dil
  >   jne .Lstores
  >   site number, apart
  >   cmpq $-77, watched(%rip)
  >   jne .Lends
  > .Lstores:
  >   site stores, apart
  >   movq %rdi, watched(%rip)
  > .Lends:
  >   nop
  >   ret
  >   .size apart, . - apart
  > 
  >   .data
  >   .balign 8
  >   .globl watched, pointer
  >   .hidden watched, pointer
  > watched: .zero 8
  > unwatched: .zero 8
  > buffer: .zero 8
  > pointer: .quad .Lmeet
  >   .section .note.GNU-stack,"",@progbits
  > END

With an argument the program prints where the data are. It calls each function 200 times.

  $ cat > run.c <<'END'
  > #include <stdio.h>
  > #include <unistd.h>
  > extern long watched __attribute__((visibility("hidden")));
  > extern long pointer __attribute__((visibility("hidden")));
  > void work(long);
  > void joined(long);
  > void apart(long) __attribute__((visibility("hidden")));
  > int run(int argc) {
  >   int ends[2];
  >   if (argc > 1) return printf("%p %p\n", (void*)&watched, (void*)&pointer) < 0;
  >   if (pipe(ends) != 0) return 1;
  >   for (long i = 0; i < 200; ++i) {
  >     work(i);
  >     joined(i);
  >     apart(i);
  >   }
  >   return write(ends[1], &watched, sizeof watched) != sizeof watched;
  > }
  > END
  $ cat > entry.c <<'END'
  > int run(int);
  > int main(int argc, char** argv) { (void)argv; return run(argc); }
  > END
  $ build() { cc -O1 "$@"; }
  $ build -no-pie -o fixed run.c entry.c sites.s
  $ build -fPIE -pie -o pie run.c entry.c sites.s
  $ build -fPIC -shared -o libsites.so run.c sites.s
  $ build -o shared entry.c ./libsites.so
  $ record() { # PROGRAM NUMBER ACCESS OPTION...: accesses of the datum of that number into PROGRAM.data, at addresses
  >   program=$1 number=$2 access=$3; shift 3 # that do not change from run to run
  >   address=$(setarch -R ./$program x | cut -d ' ' -f $number)
  >   again_after_trap setarch -R perf record -q -N -c 1 -e mem:$address/8:$access -o $program.data "$@" ./$program
  > }
  $ correct() { skidscan correct "$@" --format json -q > json; }
  $ export PYTHONPATH=$CASES

Each access of a program is counted exactly:

  $ cat > exactly.py <<'END'
  > import sys
  > from corrected import event, places, sites
  > executions = dict(store=200, increment=200, odd=100, even=100, compare=200, push=200, pop=200, movs=200, rep=1600,
  >                   before_call=200, before_return=200, in_callee=400, in_tail=200,
  >                   # No CPU fuses a comparison with a number at a place that is relative to RIP.
  >                   number=100, stores=100)
  > one = event()
  > assert one["verdict"] == "corrected" and one["unexplained"] == 0, one["verdict"]
  > assert (one["skid"]["instructions"], one["skid"]["source"]) == (1, "known")
  > assert one["in_place"] == 7 * 200, "REP MOVSB, but for its last repetition"
  > for name, count in executions.items():
  >     place = places(one)[sites(sys.argv[1])[name]]
  >     assert place["corrected"] == place["low"] == place["high"] == count, (name, place)
  > END
  $ for program in fixed pie shared; do
  >   record $program 1 rw:u
  >   correct $program.data
  >   if [ $program = shared ]; then binary=libsites.so; else binary=$program; fi
  >   "$PYTHON" exactly.py $binary
  > done

So do execution breakpoints, of which there are four:

  $ record fixed 1 w:u
  $ correct fixed.data
  $ cat > breakpoints.py <<'END'
  > import subprocess
  > from corrected import addresses, event, places, sites
  > command, written = ["perf", "stat", "-x,"], ["store", "pop", "in_callee", "in_tail"]
  > at, corrected = sites("fixed"), places(event())
  > for name in written:
  >     function, offset = at[name].split("+")
  >     command += ["-e", "mem:%#x:x:u" % (addresses("fixed")[function] + int(offset))]
  > for _ in range(4):  # a debug exception may end the program
  >     counted = subprocess.run(command + ["./fixed"], capture_output=True, text=True)
  >     if counted.returncode == 0: break
  > for name, line in zip(written, counted.stderr.splitlines()):
  >     assert corrected[at[name]]["corrected"] == int(line.split(",")[0]), (name, line)
  > assert at["odd"] not in corrected, "it only reads"
  > END
  $ "$PYTHON" breakpoints.py

Call chains: the first entry, which perf shows as the place of the sample, is moved.

  $ record fixed 1 w:u -g
  $ correct fixed.data -o corrected.data
  $ perf script -i corrected.data -F ip,sym,symoff > script 2> /dev/null
  $ "$PYTHON" -c 'from corrected import event, places
  > known = places(event())
  > lines = [""] + open("script").read().split("\n")
  > samples = [line.split() for before, line in zip(lines, lines[1:]) if line and not before]
  > for _, symbol in samples:
  >     function, offset = symbol.split("+")
  >     assert known["%s+%d" % (function, int(offset, 16))]["corrected"] > 0, symbol
  > assert len(samples) > 200, len(samples)'

Bounds cover sites that share a successor and access the same datum:

  $ record fixed 2 rw:u
  $ correct fixed.data
  $ cat > bounds.py <<'END'
  > from corrected import event, places, sites
  > one, at = event(), sites("fixed")
  > assert one["undecided"] == 200 and one["decided_by"] == {"address": 0, "branch_records": 0}, one
  > for name in ("jump", "falls"):
  >     place = places(one)[at[name]]
  >     assert (place["low"], place["high"]) == (0, 200), place
  > END
  $ "$PYTHON" bounds.py
  $ correct fixed.data --by function
  $ "$PYTHON" -c 'from corrected import event
  > print([[place[key] for key in ("symbol", "low", "corrected")] for place in event()["places"]])'
  [['joined', 200, 200]]

What a filter does not select stays in the copy as it was:

  $ record fixed 1 rw:u
  $ skidscan samples fixed.data --columns time,ip | sed 1d > before
  $ end=$(sed -n "$(($(wc -l < before) / 2 + 1))p" before | cut -f 1)
  $ correct fixed.data --time ",$(echo "$end" | sed 's/.........$/.&/')" -o half.data
  $ skidscan samples half.data --columns time,ip | sed 1d > after
  $ END=$end "$PYTHON" -c 'import os
  > from corrected import event
  > before, after = ([line.split() for line in open(name)] for name in ("before", "after"))
  > assert len(before) == len(after)
  > end = int(os.environ["END"])
  > moved = [int(old[0]) for old, new in zip(before, after) if old != new]
  > assert all(time <= end for time in moved)
  > assert event()["moved"] == len(moved) > 0
  > assert event()["samples"] == sum(int(time) <= end for time, _ in before)'

The copy is a recording that perf shows corrected:

  $ cp pie.data original
  $ correct pie.data -o corrected.data
  $ perf script -i corrected.data -F ip,sym,symoff > script 2> /dev/null
  $ "$PYTHON" -c 'import collections
  > from corrected import event, places
  > wanted = {name: place["corrected"] for name, place in places(event()).items() if place["corrected"]}
  > shown = collections.Counter()
  > for line in open("script"):
  >     function, offset = line.split()[1].split("+")
  >     shown["%s+%d" % (function, int(offset, 16))] += 1
  > assert shown == wanted, (shown, wanted)'
  $ ! perf annotate --stdio -i corrected.data -s callee --show-nr-samples > annotated 2> /dev/null ||
  >   grep -q ' 400 *:.*mov *%rax,' annotated
  $ perf report -i corrected.data --header-only 2> /dev/null | grep -o ', corrected by skidscan'
  , corrected by skidscan
  $ skidscan inspect corrected.data | grep -o ', corrected by skidscan'
  , corrected by skidscan
  $ skidscan correct corrected.data
  skidscan: corrected.data: samples that were corrected before, expected a recording as perf made it; correct the original
  [1]
  $ skidscan correct pie.data -o pie.data
  skidscan: -o pie.data: is an input; name another file
  [64]
  $ cmp pie.data original

It goes through a link, with the permissions of the recording. FIFOs and devices: the unit tests of files.

  $ cp corrected.data copy; chmod 777 corrected.data; ln -s corrected.data link
  $ correct pie.data -o link
  $ readlink link; cmp corrected.data copy
  corrected.data
  $ [ "$(stat -c %a corrected.data)" = "$(stat -c %a pie.data)" ]

What cannot be changed in place is not copied; an older copy would be taken for this one.

  $ perf_record -z -e page-faults -- true
  $ skidscan correct perf.data -o copy.data > text
  skidscan: perf.data: compressed records, expected plain ones, which can be copied; record without -z
  [1]

Nor what is damaged: a section that ends behind the file would go on in what is appended to a copy.

  $ perf_record -e page-faults -- true
  $ printf '\0\0\1\0' | dd of=perf.data bs=1 seek=32 conv=notrunc status=none
  $ skidscan correct perf.data -o copy.data > text
  skidscan: perf.data: at offset *: attribute section of 65536 bytes, expected * up to the end of the file; a copy would be damaged as well; correct without a copy, or record again (glob)
  [1]
  $ perf_record -e cpu-clock -- true
  $ mv perf.data timer.data
  $ skidscan correct timer.data -o copy.data > text
  skidscan: -o copy.data: not written: no event was corrected
  [1]
  $ test -e copy.data
  [1]

Accesses of the kernel are left: write() copies the datum.

  $ record fixed 1 rw
  $ correct fixed.data
  $ "$PYTHON" -c 'from corrected import event
  > one = event()
  > assert (one["verdict"], one["unexplained"]) == ("corrected", 0) and one["not_placed"]["kernel"] >= 1, one'

Data of files that are mapped later: callers write to the stack, which is not in the library.

  $ echo 'long watched; void touch(void) { watched += 1; }' > data.c
  $ cat > falls.s <<'END'
  >   .text
  >   .globl falls, into
  >   .type falls, @function
  >   .type into, @function
  > falls:
  >   movq watched@GOTPCREL(%rip), %rax
  >   movq %rdi, (%rax)
  >   .size falls, . - falls
  > into:
  >   nop
  >   ret
  >   .size into, . - into
  >   .section .note.GNU-stack,"",@progbits
  > END
  $ cat > main.c <<'END'
  > #include <stdio.h>
  > extern long watched;
  > void touch(void);
  > void falls(long);
  > int main(int argc, char** argv) {
  >   (void)argv;
  >   if (argc > 1) return printf("%p %p\n", (void*)&watched, (void*)&watched) < 0;
  >   for (long i = 0; i < 50; ++i) {
  >     falls(i);
  >     touch();
  >   }
  >   return 0;
  > }
  > END
  $ build -fPIC -shared -o libdata.so data.c
  $ build -fPIE -pie -fPIC -o main main.c falls.s ./libdata.so
  $ record main 1 w:u
  $ correct main.data
  $ "$PYTHON" -c 'from corrected import event, places
  > assert event()["undecided"] == 0 and places(event())["falls+7"]["low"] == 50, places(event())'

Registers decide which of two instructions it was:

  $ cat > aliased.s <<'END'
  >   .globl _start
  >   .data
  > x: .quad .Lmeet
  > y: .quad 1
  >   .text
  >   .type f, @function
  > f: testl $1, %ebx
  >   jz 1f
  >   jmp *(%rsi)
  > 1: movq (%rdx), %rax
  > .Lmeet: nop
  >   ret
  >   .size f, . - f
  > _start: movl $100, %ebx
  >   leaq x(%rip), %rsi
  >   leaq y(%rip), %rdx
  > 3: call f
  >   decl %ebx
  >   jnz 3b
  >   movl $60, %eax
  >   xorl %edi, %edi
  >   syscall
  > END
  $ build -nostdlib -static -o aliased aliased.s
  $ for registers in -N --user-regs=si,dx --intr-regs=si,dx; do
  >   perf_record $registers -c 1 -e "mem:0x$(nm aliased | sed -n 's/ d x$//p'):rw:u" -- ./aliased
  >   correct perf.data
  >   "$PYTHON" -c 'from corrected import event, places
  > one = event()
  > print(one["undecided"], one["decided_by"]["address"], {at: place["corrected"] for at, place in places(one).items()
  >                                                       if place["corrected"]})'
  > done
  50 0 {'f+13': 50}
  0 50 {'f+8': 50}
  0 50 {'f+8': 50}

A string instruction is sampled as often as its repetitions, of which the executions around it say nothing:

  $ cat > string.s <<'END'
  >   .globl _start
  >   .data
  > x: .quad 1
  >   .text
  >   .type f, @function
  > f: movl x(%rip), %eax
  >   nop
  >   movl $5, %ecx
  >   leaq x(%rip), %rdi
  >   testl $1, %ebx
  >   jz 1f
  >   movl x(%rip), %eax
  > 1: rep stosb
  >   nop
  >   ret
  >   .size f, . - f
  > _start: movl $100, %ebx
  > 2: call f
  >   decl %ebx
  >   jnz 2b
  >   movl $60, %eax
  >   xorl %edi, %edi
  >   syscall
  > END
  $ build -nostdlib -static -o string string.s
  $ perf_record -c 1 -e "mem:0x$(nm string | sed -n 's/ d x$//p'):rw:u" -- ./string
  $ correct perf.data
  $ "$PYTHON" -c 'from corrected import event
  > assert event()["undecided"] > 0'

What has no constant skid is refused, and timers:

  $ skidscan synth --like gregg-2017 -q
  $ correct synth.data
  $ "$PYTHON" -c 'from corrected import events
  > print({(one["verdict"], one["skid"]["instructions"]) for one in events()})'
  {('refused', None)}
  $ skidscan correct synth.data --fail-on refused 2> err > text
  [4]
  $ grep -o -e '--fail-on refused: synth.data: ' err
  --fail-on refused: synth.data: 
  $ skidscan correct synth.data -e nothing > text 2> err
  [1]
  $ correct timer.data
  $ "$PYTHON" -c 'from corrected import event
  > print(event()["verdict"], "timer" in event()["reason"])'
  refused True
