// A shared library with a PLT entry.
int puts(const char*);
int greet(void) {
  return puts("hello");
}
