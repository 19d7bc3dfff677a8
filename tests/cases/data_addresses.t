Data addresses from `skidscan record` to `report`, and in `audit`.

  $ . "$CASES/common.sh"
  $ needs cc nm x86-64 samples
  $ record() { skidscan record -e $1 -p pp --samples 4000 -q --force -o a.run; }
  $ reported() { skidscan report a.run --format json > json; }

Those of page faults are the trigger's, unless it declares others:

  $ record faults
  $ reported
  $ pick < json measurements.0.address.source measurements.0.address.cause measurements.0.address.contradicted.count
  measurements.0.address.source = "page fault"
  measurements.0.address.cause = "confirmed"
  measurements.0.address.contradicted.count = 0
  $ holds < json 'j["measurements"][0]["address"]["samples"]["trigger"]["trigger"] == j["measurements"][0]["judged_samples"]'
  $ skidscan target --read a.run/target.fault --format json > target.json
  $ "$PYTHON" -c 'import json, struct
  > code = bytearray(open("a.run/target.fault", "rb").read())
  > # The datum follows the numbers of the note.
  > at = code.index(b"skidscan\0\0\0\0") + 12 + 8 + 8 * 6
  > datum, = struct.unpack_from("<Q", code, at)
  > assert "%#x" % datum in json.dumps(json.load(open("target.json"))["layout"]), hex(datum)
  > struct.pack_into("<Q", code, at, datum + 4096)
  > open("a.run/target.fault", "wb").write(code)'
  $ reported
  $ pick < json measurements.0.address.cause
  measurements.0.address.cause = "contradicted"
  $ holds < json 'j["measurements"][0]["address"]["samples"]["trigger"]["other"] == j["measurements"][0]["judged_samples"]' \
  >   '"something else caused them" in str(j["measurements"][0]["warnings"])'

Where they are refused they are left out, with a message:

  $ mkdir bin
  $ cat > bin/perf <<END
  > #!/bin/sh
  > case " \$* " in *' -d '*) printf 'Error:\nno data here\n' >&2; exit 255 ;; esac
  > exec $(command -v perf) "\$@"
  > END
  $ chmod +x bin/perf
  $ PATH=$PWD/bin:$PATH "$SKIDSCAN" record -e faults -p pp --samples 4000 -o refused.run > out 2> err
  $ grep -o 'data addresses are refused here: recorded without them (no data here)' err
  data addresses are refused here: recorded without them (no data here)
  $ pick < refused.run/run.json measurements.0.data_addresses
  measurements.0.data_addresses = false
  $ grep -o -m 1 'refused here' refused.run/run.json
  refused here
  $ skidscan report refused.run --format json > json
  $ pick < json measurements.0.address
  measurements.0.address = null
  $ holds < json 'j["measurements"][0]["samples"]["read"] >= 4000'

A store to the first byte of each of 64 pages, and one to each of 64 others by registers:

  $ cat > stores.s <<'END'
  >   .globl stores
  >   .type stores, @function
  > stores:
  >   .set page, 0
  >   .rept 64
  >   movb $1, pages + 4096 * page(%rip)
  >   .set page, page + 1
  >   .endr
  >   leaq others(%rip), %rdi
  >   movl $512 * 63, %esi
  > 1:
  >   movq %rsi, (%rdi,%rsi,8)
  >   subq $512, %rsi
  >   jns 1b
  >   movl $60, %eax
  >   xorl %edi, %edi
  >   syscall
  >   .size stores, . - stores
  >   .type runway, @function
  > runway:
  >   nop
  >   .size runway, . - runway
  >   .bss
  >   .balign 4096
  > pages:
  >   .skip 4096 * 64
  > others:
  >   .skip 4096 * 64
  >   .section .note.GNU-stack,"",@progbits
  > END
  $ cc -nostdlib -static -no-pie -Wl,-e,stores -o stores stores.s
  $ faults() { perf_record -e page-faults:u -c 1 -d "$@" -- ./stores; cp perf.data sound; }
  $ audited() {
  >   skidscan audit perf.data --format json > json
  >   pick recordings.0.events.0.data_address.judged recordings.0.events.0.data_address.contradicted < json |
  >     sed 's/.*= //' | paste -s -d ' '
  > }
  $ change() { # PAGE BYTE: flips a bit in the one record of the page's address
  >   cp sound perf.data
  >   "$PYTHON" -c 'import struct, sys
  > page, byte = int(sys.argv[1], 16) + 4096 * int(sys.argv[2]), int(sys.argv[3])
  > data = bytearray(open("perf.data", "rb").read())
  > address = struct.pack("<Q", page)
  > assert data.count(address) == 1
  > data[data.index(address) + byte] ^= 0x40
  > open("perf.data", "wb").write(data)' "$(nm stores | sed -n 's/ b pages$//p')" "$@"
  > }

Faults of constant operands, and that of the first instruction's fetch, are judged, and each changed byte is found; the last one makes it no address:

  $ faults
  $ audited
  65 0
  $ for byte in 0 1 2 3 4 5 6 7; do change 7 $byte; audited; done | uniq -c
        7 65 1
        1 64 0
  $ cp sound perf.data; skidscan audit perf.data --fail-on samples > text
  $ change 9 1; skidscan audit perf.data --fail-on samples > text
  skidscan: --fail-on samples: 1 of 129 judged samples (0.78%) is at the wrong instruction, by what it does or by its data address
  [4]

A report counts them as no hits of the function:

  $ hits() {
  >   skidscan report perf.data --hit stores --runway runway "$@" --format json > json
  >   pick < json measurements.0.samples.hit measurements.0.samples.loop measurements.0.contradicted_addresses |
  >     sed 's/.*= //' | paste -s -d ' '
  > }
  $ hits
  128 1 1
  $ holds < json '"1 sample on the trigger is not at the instruction that accessed its data address: no hit" in j["measurements"][0]["contract"]["evidence"]'
  $ skidscan report json --format csv |
  >   "$PYTHON" -c 'import csv, sys; print({row["contradicted_addresses"] for row in csv.DictReader(sys.stdin)})'
  {'1'}
  $ cp sound perf.data; hits
  129 0 0

Faults of operands with registers are judged where these were recorded:

  $ for registers in --intr-regs=di,si --user-regs=di,si --intr-regs=di; do faults $registers; audited; done
  129 0
  129 0
  65 0
