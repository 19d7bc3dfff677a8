/* A program for tests of listings: a loop in one function, called by name and through a table. */
#include <stdio.h>
#include <stdlib.h>

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
  unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 100000000;
  if (argc > 5) return never_called(argc);
  printf("%lu\n", spin(rounds));
  return 0;
}
