#!/bin/sh
# Regenerates the inputs of tests/fuzz/corpus, except those that fuzzing found.
# usage: make_corpus.sh BUILD_DIRECTORY    as root, for unshare and tracepoints
# Needs perf, gcc, clang, binutils, aarch64-linux-gnu-gcc, xz and zstd.
set -eu
build=$(realpath "$1")
here=$(realpath "$(dirname "$0")")
corpus=$here/corpus
cmake --build "$build" --target make_seeds skidscan >/dev/null
mkdir -p "$corpus/recording" "$corpus/pipe" "$corpus/features" "$corpus/note" "$corpus/symbols" \
  "$corpus/instructions" "$corpus/perfstat" "$corpus/report" "$corpus/code" "$corpus/corrected" "$corpus/spe" \
  "$corpus/module" "$corpus/compressed" "$corpus/run"

# Recordings contain the host name: here, example.
[ -n "${UNSHARED:-}" ] || UNSHARED=1 exec unshare --uts "$here/make_corpus.sh" "$build"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Recordings of `true`.
file() { name=$1; shift; perf record -q -o "$name.data" "$@" -- true; }
pipe() { name=$1; shift; perf record -q -o - "$@" -- true >"$name.pipe"; }
hostname example
file clock -e cpu-clock -c 100003
file callchain -e cpu-clock -c 200003 -g
file two-events -e cpu-clock/period=200003/,page-faults/period=40/
file group -e '{cpu-clock/period=100003/,page-faults}:S'
file faults-with-address -e page-faults -c 10 -d
file registers-and-stack -e page-faults:u -c 40 --intr-regs=ax,ip --user-regs=ip,sp \
  --call-graph dwarf,256
file tracepoint -e exceptions:page_fault_user -c 20
file breakpoint -e mem:0x1000:rw -c 1
file compressed -e cpu-clock -c 100003 -z
pipe clock -e cpu-clock -c 200003
pipe two-events -e cpu-clock/period=200003/,page-faults/period=40/ -g
pipe tracepoint -e exceptions:page_fault_user -c 20
pipe compressed -e cpu-clock -c 100003 -z
mv ./*.data "$corpus/recording"
mv ./*.pipe "$corpus/pipe"

# Targets: stripped, because only the note is read.
target() {
  "$build/skidscan" target --trigger "$2" --arch "$1" --nops 32 --lead-in 4 -o "$2-$1" >/dev/null
  "${3:-}strip" -s "$2-$1"
  mv "$2-$1" "$corpus/note"
}
target x86_64 load
target x86_64 branch
target aarch64 load aarch64-linux-gnu-

# Reports: with one trigger and with two, with and without a runway, and their sum.
report() { "$build/skidscan" report --format json "$@"; }
synth() {
  echo '{"schema": "skidscan.model/1", "name": "small", "target":
    {"trigger": "'"$1"'", "nops": 32, "lead_in_nops": 4, "gaps": ['"$2"']}, "events": [
    {"event": "r20d1", "period": 7, "levels": [{"level": 2, "samples": 20, "hits": 0.5,
    "offsets": {"kind": "uniform", "lowest": -3, "highest": 30}, "exact_ip": 0.5}]}]}' >small.json
  "$build/skidscan" synth small.json --seed "$3" --force -o small.data >/dev/null 2>&1
}
for seed in 1 2; do
  synth load "" $seed
  report small.data >"$seed.json"
done
report small.data --hit skid_trigger --runway skid_runway >"$corpus/report/functions"
synth store 20 1
report small.data >"$corpus/report/two-triggers"
perf record -q -o clock.data -e cpu-clock -c 100003 -- true
report clock.data >"$corpus/report/no-trigger"
sed 's/"small.data"/"other.data"/' 2.json >other.json
"$build/skidscan" merge 1.json other.json 2>/dev/null >"$corpus/report/merged"
mv 1.json "$corpus/report/one-trigger"

# Runs as tar files: the description alone, and with its directory and a file of it.
PATH="$build:$PATH" skidscan synth small.json --all-levels --seed 1 -o skidscan.run >/dev/null 2>&1
find skidscan.run -type f ! -name run.json ! -name truth.json -delete
pack() {
  tar -b1 --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --format="$1" -cf "$corpus/run/$1" "$2"
}
pack ustar skidscan.run/run.json
pack gnu skidscan.run

# Compressed text.
seq 1 400 >text
xz -c text >"$corpus/compressed/xz"
zstd -q -c text >"$corpus/compressed/zstd"
gzip -n -c text >"$corpus/compressed/gzip"

# Code only.
as -o code.o "$here/sources/instructions.s"
objcopy -O binary -j .text code.o "$corpus/instructions/all-kinds"
"$build/tests/fuzz/make_seeds" "$corpus"

# Small ELF files, without the name of the build directory.
small="-Os -nostdlib -ffreestanding -fno-asynchronous-unwind-tables -Wl,-z,noseparate-code
  -Wl,-z,max-page-size=512 -Wl,--build-id=sha1 -ffile-prefix-map=$here=."
cd "$here/sources"
# shellcheck disable=SC2086 # one option per word
{
  gcc $small -static -g -o "$corpus/symbols/lines" functions.c
  gcc $small -static -gdwarf-4 -gz -o "$corpus/symbols/lines-compressed" functions.c
  clang $small -static -g -o "$corpus/symbols/lines-clang" functions.c
  clang $small -static -gdwarf-5 -gsplit-dwarf -o "$corpus/symbols/lines-split" functions.c
  rm -f functions.dwo  # a reader must not open the DWARF file that an ELF file names
  gcc $small -static -s -o "$corpus/symbols/stripped" functions.c
  aarch64-linux-gnu-gcc $small -static -g -o "$corpus/symbols/aarch64" functions.c
  gcc $small -shared -fPIC -g -o "$corpus/symbols/library.so" library.c
  gcc -Os -g "-ffile-prefix-map=$here=." -c -o "$corpus/symbols/relocatable.o" functions.c
}
for arch in x86_64 aarch64; do
  "$arch-linux-gnu-gcc" -nostdlib -r -Wl,--build-id=sha1 -o "$corpus/module/$arch" "module-$arch.s"
done
xz -c "$corpus/module/x86_64" >"$corpus/module/x86_64.xz"
gzip -n -c "$corpus/module/aarch64" >"$corpus/module/aarch64.gz"
find "$corpus" -type f -exec chmod 644 {} +
