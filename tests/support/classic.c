// The classic experiment: a loop over a function that reads memory and a runway function, for so
// many milliseconds of a CPU, however fast that is.
#include <stdlib.h>
#include <time.h>
static volatile long datum[1 << 12];
__attribute__((noinline)) long memreader(unsigned long i) {
  long sum = 0;
  for (int k = 0; k < 64; ++k) sum += datum[(i * 1009 + (unsigned long)k * 127) % (1 << 12)];
  return sum;
}
__attribute__((noinline)) void noprunway(void) {
  __asm__ volatile(".rept 5000\nnop\n.endr");
}
int main(int argc, char** argv) {
  long sum = 0;
  const clock_t milliseconds = strtol(argc > 1 ? argv[1] : "400", 0, 10);
  const clock_t end = clock() + milliseconds * (CLOCKS_PER_SEC / 1000);
  for (unsigned long i = 0; i % 100 != 0 || clock() < end; ++i) {
    sum += memreader(i);
    noprunway();
  }
  return sum == 42;
}
