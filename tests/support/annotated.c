/* A program for tests of listings: a loop in one function, for 0.3 s of a CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) unsigned long spin(unsigned long rounds) {
  unsigned long sum = 1;
  for (unsigned long i = 0; i < rounds; ++i) {
    sum ^= sum << 13;
    sum ^= sum >> 7;
    if (sum == 5) abort();
  }
  return sum;
}

__attribute__((noinline)) int never_called(int x) {
  return x * 3 + rand();
}

int main(int argc, char** argv) {
  unsigned long sum = 0;
  if (argc > 5) return never_called(argc);
  for (clock_t end = clock() + CLOCKS_PER_SEC * 3 / 10; clock() < end;) sum += spin(1000000);
  printf("%lu %s\n", sum, argv[0]);
  return 0;
}
