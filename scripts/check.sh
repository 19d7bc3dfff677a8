#!/bin/sh
# Everything that must hold before a change lands: formatting, warnings, the tests under the
# sanitizers, the installed program, the tests as users build it. Ends with ctest's summary.
set -eu
cd "$(dirname "$0")/.."

step() { printf '\n== %s (after %ss)\n' "$1" "$(($(date +%s) - start))"; }
start=$(date +%s)

step 'dependencies'
scripts/install-dependencies.sh check
jobs=$(nproc)

step 'formatting'
git ls-files -z -- '*.cpp' '*.h' '*.c' | xargs -0 clang-format --dry-run --Werror

step 'build with warnings as errors'
# As users build it, without the debug information, which nobody reads here. Sources that include
# too little are seen here: only the tests are compiled several files at a time.
lab=OFF
command -v qemu-system-aarch64 >/dev/null && lab=ON
cmake -S . -B build-check -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O2 -DNDEBUG' -DSKIDSCAN_WERROR=ON -DSKIDSCAN_UNITE_TESTS=ON \
  -DSKIDSCAN_LAB="$lab"
cmake --build build-check

step 'tests under AddressSanitizer and UndefinedBehaviorSanitizer'
# By clang and several sources at a time: by GCC, one by one, most of the time went into headers.
cmake -S . -B build-sanitize -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG='-O1 -g1' \
  -DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++ -DSKIDSCAN_SANITIZE=ON \
  -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=12 -DSKIDSCAN_UNITE_TESTS=ON
cmake --build build-sanitize
ctest --test-dir build-sanitize -j "$jobs" --output-on-failure --no-tests=error

step 'installation'
cmake --install build-check --prefix build-check/installed >/dev/null
build-check/installed/bin/skidscan --version
for words in man/man1/skidscan.1 man/man1/skidscan-record.1 bash-completion/completions/skidscan \
  zsh/site-functions/_skidscan fish/vendor_completions.d/skidscan.fish; do
  test -s "build-check/installed/share/$words"
done

step 'tests'
ctest --test-dir build-check -j "$jobs" --output-on-failure --no-tests=error
