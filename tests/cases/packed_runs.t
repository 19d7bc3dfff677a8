Packed runs: what reads a run of a directory reads it from a tar.

  $ . "$CASES/common.sh"

  $ skidscan synth --like pebs-sound --all-levels -q -o sound.run
  $ cp -r sound.run copy.run
  $ skidscan record --resume copy.run --pack sound.tar -q
  $ ls
  sound.run
  sound.tar
  $ tar -tf sound.tar
  skidscan.run/run.json
  skidscan.run/target.load
  skidscan.run/r81d0.none.data
  skidscan.run/r81d0.p.data
  skidscan.run/r81d0.pp.data
  skidscan.run/r81d0.ppp.data

Outputs are those of the directory, with the name of the tar.

  $ for command in "report --details" "report --format json" "audit --format json" "correct --format json" annotate \
  >   "inspect --format json" "compare --format csv sound.run" "merge -q"; do
  >   skidscan $command sound.run > directory; skidscan $command sound.tar > tar || echo "$command: $?"
  >   sed 's/sound\.tar/sound.run/g' tar | diff -q - directory > /dev/null || echo "$command differs"
  > done
  $ skidscan audit --skid sound.tar sound.run --format json > by_tar
  $ skidscan audit --skid sound.run sound.run --format json | diff - by_tar
  $ TMPDIR=$PWD/empty; mkdir empty; export TMPDIR
  $ skidscan report sound.tar -q > text; ls empty

A signal removes them as well. Here it waits for a pipe that precedes the tar.

  $ for signal in INT TERM HUP; do
  >   mkfifo pipe; "$PYTHON" -c 'import os, signal, sys
  > signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
  >     "$SKIDSCAN" audit pipe sound.tar > text 2> errors & waiting=$!
  >   for i in $(seq 100); do [ -z "$(ls empty)" ] || break; sleep 0.1; done
  >   ls empty | wc -l; kill -$signal $waiting; wait $waiting 2> none || echo $?; ls empty; rm pipe
  > done
  1
  130
  1
  143
  1
  129

GNU tar packs them as well, with or without the directory; files that the run does not name do not matter.

  $ tar -cf gnu.tar sound.run
  $ skidscan report gnu.tar --format json | sed s/gnu.tar/sound.run/ > gnu
  $ skidscan report sound.run --format json | diff - gnu
  $ tar --format=ustar -cf ustar.tar -C sound.run .
  $ skidscan report ustar.tar --format json | sed s/ustar.tar/sound.run/ | diff - gnu

Samples of a run are those of its recordings, one after the other.

  $ for each in sound.run sound.tar sound.run/run.json; do
  >   skidscan samples $each --columns ip,recording | sed "s,$each/,sound.run/," > samples || echo $?; cksum < samples
  > done | sort -u | wc -l
  1
  $ sed 's/.*\t//' samples | uniq
  recording
  sound.run/r81d0.none.data
  sound.run/r81d0.p.data
  sound.run/r81d0.pp.data
  sound.run/r81d0.ppp.data
  $ for level in none p pp ppp; do skidscan samples sound.run/r81d0.$level.data --columns ip | sed 1d; done > each
  $ sed '1d;s/\t.*//' samples | cmp - each
  $ skidscan samples sound.run --format jsonl --columns recording | uniq -c | awk '{print ($1 > 100), $2}'
  1 {"recording":"sound.run/r81d0.none.data"}
  1 {"recording":"sound.run/r81d0.p.data"}
  1 {"recording":"sound.run/r81d0.pp.data"}
  1 {"recording":"sound.run/r81d0.ppp.data"}
  $ skidscan samples missing.run sound.run/r81d0.p.data --columns recording | uniq
  skidscan: missing.run: no such file or directory
  recording
  sound.run/r81d0.p.data

A recording of a copied run has its target beside it, whatever is at the recorded path.

  $ for command in report audit annotate correct "samples --columns sym,symoff"; do
  >   skidscan $command sound.run/r81d0.pp.data > before
  >   cp -r sound.run elsewhere.run; echo other > sound.run/target.load
  >   skidscan $command elsewhere.run/r81d0.pp.data > after || echo "$command: $?"
  >   sed 's/elsewhere\.run/sound.run/g' after | diff -q - before > /dev/null || echo "$command differs"
  >   cp elsewhere.run/target.load sound.run; rm -r elsewhere.run
  > done

A tar is one input, which -o of correct refuses, and nothing replaces it.

  $ skidscan correct sound.tar -o corrected.data
  skidscan: -o copies one recording; name a single file
  [64]
  $ skidscan report sound.tar --plot sound.tar
  skidscan: sound.tar: not the name of a figure; expected .png, .svg or .pdf
  [64]
  $ skidscan record --pack sound.tar
  skidscan: sound.tar: exists; replace it with --force, or name another with --pack
  [1]
  $ skidscan record --pack sound.zip
  skidscan: --pack sound.zip: expected FILE.tar
  [64]

Archives that were made to do harm, or damaged: nothing of them is read.

  $ cat > make.py <<END
  > import io, sys, tarfile
  > def add(tar, name, kind=tarfile.REGTYPE, link=""):
  >     member = tarfile.TarInfo(name)
  >     member.type, member.linkname, member.size = kind, link, 3 if kind == tarfile.REGTYPE else 0
  >     tar.addfile(member, io.BytesIO(b"{}\n") if member.size else None)
  > for name, files in {
  >     "absolute": [("/tmp/run.json",)], "up": [("run/../../run.json",)], "top": [("../run.json",)],
  >     "deep": [("run/a/run.json",)], "two": [("a/run.json",), ("b/load.data",)],
  >     "symbolic": [("run/run.json", tarfile.SYMTYPE, "/etc/passwd")],
  >     "hard": [("run/run.json",), ("run/load.data", tarfile.LNKTYPE, "run/run.json")],
  >     "device": [("run/run.json", tarfile.CHRTYPE)], "twice": [("run.json",), ("run.json",)],
  >     "empty": [("run/other",)]}.items():
  >     with tarfile.open(name + ".tar", "w", format=tarfile.USTAR_FORMAT) as tar:
  >         for each in files: add(tar, *each)
  > whole = open("sound.tar", "rb").read()
  > open("cut.tar", "wb").write(whole[:len(whole) // 2])
  > last = whole.rindex(b"ustar\\0") - 257
  > end = last + 512 + -(-int(whole[last + 124:last + 135], 8) // 512) * 512
  > open("endless.tar", "wb").write(whole[:end])
  > open("sum.tar", "wb").write(b"S" + whole[1:])
  > open("size.tar", "wb").write(whole[:124] + b"7" * 11 + whole[135:])
  > END
  $ "$PYTHON" make.py
  $ for each in absolute up top deep two symbolic hard device twice empty cut endless sum size; do
  >   skidscan report $each.tar 2>&1 | sed "s/ of [0-9]* bytes, expected at most [0-9]*/ too long/; s/offset 0x[0-9a-f]\{4,\}/offset N/" | cut -d';' -f1
  > done
  skidscan: absolute.tar: at offset 0x0: the name '/tmp/run.json', expected that of a file in one directory
  skidscan: up.tar: at offset 0x0: the name 'run/../../run.json', expected that of a file in one directory
  skidscan: top.tar: at offset 0x0: the name '../run.json', expected that of a file in one directory
  skidscan: deep.tar: at offset 0x0: the name 'run/a/run.json', expected that of a file in one directory
  skidscan: two.tar: at offset 0x400: the name 'b/load.data', expected that of a file in one directory
  skidscan: symbolic.tar: at offset 0x0: 'run/run.json' of type '2', expected a regular file
  skidscan: hard.tar: at offset 0x400: 'run/load.data' of type '1', expected a regular file
  skidscan: device.tar: at offset 0x0: 'run/run.json' of type '3', expected a regular file
  skidscan: twice.tar: at offset 0x400: 'run.json' for the second time
  skidscan: empty.tar: a tar without a run.json, expected a run of 'skidscan record'
  skidscan: cut.tar: at offset N: a file too long
  skidscan: endless.tar: at offset N: the end of the file, expected a block of zeros before it
  skidscan: sum.tar: at offset 0x0: a header with a wrong sum
  skidscan: size.tar: at offset 0x0: a header with a wrong sum
  $ ls empty
