#!/bin/sh
# Every check that must pass before a change is merged: formatting, a build with warnings as errors, the
# installed program, all tests but the thorough ones. Ends with the tests that were skipped, by reason, and the line
# "N passed, N failed, N skipped". .ci/run adds the thorough tests and slower checks.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s (after %ss)\n' "$1" "$(($(date +%s) - start))"; }
start=$(date +%s)

step 'dependencies'
scripts/install-dependencies.sh check

step 'formatting'
git ls-files -z -- '*.cpp' '*.h' '*.c' | xargs -0 clang-format --dry-run --Werror

step 'build with warnings as errors'
lab=OFF
command -v qemu-system-aarch64 >/dev/null && lab=ON
# Without optimization where it saves no time: compiling takes longer than the tests' use of that code.
scripts/configure.sh build-check -DSKIDSCAN_WERROR=ON -DSKIDSCAN_LAB="$lab" -DSKIDSCAN_COLD_OPTIONS=-O0 \
  -DSKIDSCAN_TEST_SHARDS=4
cmake --build build-check --target all ship_targets

step 'installation'
cmake --install build-check --prefix build-check/installed >/dev/null
build-check/installed/bin/skidscan --version
for file in man/man1/skidscan.1 man/man1/skidscan-record.1 bash-completion/completions/skidscan \
  zsh/site-functions/_skidscan fish/vendor_completions.d/skidscan.fish; do
  test -s "build-check/installed/share/$file"
done

step 'tests'
# Twice as many as there are cores: many tests wait, for perf or for a device.
# Once more where one fails: some virtual machines give a program a debug exception of perf's, or give it twice
# (1 in 20 of perf record -e mem:ADDR:x on one CPU of such a machine). Such tests are listed.
scripts/run-tests.py build-check -LE thorough --repeat until-pass:2 -j "$(($(nproc) * 2))" --output-on-failure
