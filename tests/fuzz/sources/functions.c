// A program without a C library: a few functions, one of them inlined, and data.
static int helper(int n) {
  return n * 3;
}
int data[4] = {1};
int twice(int n) {
  return helper(n) + data[n & 3];
}
void _start(void) {
  twice(4);
  for (;;) continue;
}
