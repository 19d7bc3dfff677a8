#include "text.h"

void append(struct text* text, const char* more) {
  while (*more && text->length < sizeof text->bytes) text->bytes[text->length++] = *more++;
}

// The last `digits` decimal digits, most significant first.
static void append_digits(struct text* text, u64 number, unsigned digits) {
  char reversed[20];
  for (unsigned i = 0; i < digits; ++i, number /= 10) reversed[i] = (char)('0' + number % 10);
  while (digits > 0 && text->length < sizeof text->bytes)
    text->bytes[text->length++] = reversed[--digits];
}

void append_number(struct text* text, u64 number) {
  unsigned digits = 1;
  for (u64 rest = number; rest >= 10; rest /= 10) ++digits;
  append_digits(text, number, digits);
}

void append_decimal(struct text* text, u64 scaled, unsigned decimals) {
  u64 unit = 1;
  for (unsigned i = 0; i < decimals; ++i) unit *= 10;
  append_number(text, scaled / unit);
  append(text, ".");
  append_digits(text, scaled % unit, decimals);
}

int same(const char* a, const char* b) {
  for (; *a && *a == *b; ++a) ++b;
  return *a == *b;
}

u64 number_from(const char* word, unsigned decimals) {
  u64 number = 0;
  int digits = 0, after_point = 0;
  for (; *word; ++word) {
    if (*word == '.' && !after_point && decimals > 0) {
      after_point = 1;
      continue;
    }
    if (*word < '0' || *word > '9') return 0;
    if (after_point && decimals-- == 0) return 0;
    if (__builtin_mul_overflow(number, 10, &number)) return 0;
    if (__builtin_add_overflow(number, (u64)(*word - '0'), &number)) return 0;
    digits = 1;
  }
  for (; decimals > 0; --decimals)
    if (__builtin_mul_overflow(number, 10, &number)) return 0;
  return digits ? number : 0;
}
