Names of functions in `skidscan annotate`: those of C++, and hostile ones.

  $ . "$CASES/common.sh"
  $ needs c++ x86-64 samples
  $ cat > account.cpp <<'END'
  > #include <ctime>
  > namespace app {
  > struct Account {
  >   __attribute__((noinline)) static void spin(int n) { for (volatile int i = 0; i < n; i = i + 1) {} }
  >   __attribute__((noinline)) static void spin_on() { for (volatile int i = 0; i < 900000; i = i + 1) {} }
  > };
  > }
  > int main() {
  >   while (clock() < CLOCKS_PER_SEC / 4) { app::Account::spin(300000); app::Account::spin_on(); }
  > }
  > END
  $ c++ -O1 -o account account.cpp
  $ perf_record -e cpu-clock:u -- ./account
  $ rows() {
  >   skidscan annotate perf.data --module account --format json --function "$1" 2> err |
  >     pick codes.# codes.0.rows
  > }

Each of its names finds a function:

  $ rows app::Account::spin > spin
  $ head -n 1 spin
  codes.# = 1
  $ rows 'app::Account::spin(int)' | cmp - spin
  $ rows _ZN3app7Account4spinEi | cmp - spin
  $ rows app::Account::spin_on > spin_on
  $ cmp -s spin spin_on
  [1]
  $ rows t::spin_o | cmp - spin_on
  $ grep -o "'t::spin_o': shown is the only sampled one with it in its name: app::" err
  't::spin_o': shown is the only sampled one with it in its name: app::
  $ skidscan annotate perf.data --function ccount::spi 2> err
  [1]
  $ grep -o 'app::Account::spin_on(), app::Account::spin(int)$' err
  app::Account::spin_on(), app::Account::spin(int)
  $ skidscan annotate perf.data --function spin_o --module libc.so.6 2> /dev/null
  [1]
  $ skidscan annotate perf.data --no-demangle 2>&1 > text | grep -o 'shown: _ZN3app7Account7spin_onEv'
  shown: _ZN3app7Account7spin_onEv

Nothing of a recording is printed unescaped:

  $ evil=$(printf 'evil\033[31m'); mkdir "$evil"
  $ cat > "$evil/a.s" <<END
  >   .text
  >   .globl _start
  > _start:
  >   mov \$100000000, %rcx
  >   call "$evil"
  >   mov \$60, %eax
  >   xor %edi, %edi
  >   syscall
  >   .type "$evil", @function
  > "$evil":
  >   dec %rcx
  >   jnz "$evil"
  >   ret
  >   .size "$evil", .-"$evil"
  > END
  $ cc -g -nostdlib -static -o "$evil/program" "$evil/a.s"
  $ perf_record -e cpu-clock -c 1000003 -- "$evil/program"
  $ for format in text json csv; do
  >   skidscan annotate perf.data --function "$evil" --all --source --format $format > $format; echo $?
  >   grep -c evil $format | sed 's/[1-9].*/named/'
  >   grep "$(printf '\033')" $format || true
  > done
  0
  named
  0
  named
  0
  named
  $ skidscan annotate perf.data 2>&1 > text | grep -o 'evil[^,]*m'
  evil\x1b[31m
