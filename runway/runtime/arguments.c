#include "arguments.h"

#include "system.h"
#include "text.h"

static u64 positive(const char* option, const char* word, unsigned decimals) {
  const u64 number = number_from(word, decimals);
  if (number == 0) die(kExitUsage, option, "takes a number above 0");
  return number;
}

struct arguments arguments_from(char** argv) {
  // One by one: for an initializer compilers call memset, which a target does not have.
  struct arguments result;
  result.iterations = result.nanoseconds = 0;
  result.cpu_given = 0;
  result.cpu = 0;
  result.control = result.acknowledge = 0;
  // argv[0] can be missing: execve takes an empty vector.
  for (char** next = *argv ? argv + 1 : argv; *next; next += 2) {
    const char* const option = next[0];
    const char* const value = next[1];
    const int known = same(option, "--iterations") || same(option, "--seconds") ||
                      same(option, "--cpu") || same(option, "--control") || same(option, "--ack");
    if (!known) {
      die(kExitUsage, option,
          "is not an option; expected --iterations N, --seconds S, --cpu N, --control FIFO and "
          "--ack FIFO");
    }
    if (!value) die(kExitUsage, option, "has no value");
    if (same(option, "--iterations")) {
      result.iterations = positive(option, value, 0);
    } else if (same(option, "--seconds")) {
      result.nanoseconds = positive(option, value, 9);
    } else if (same(option, "--cpu")) {
      result.cpu_given = 1;
      result.cpu = same(value, "0") ? 0 : positive(option, value, 0);
    } else if (same(option, "--control")) {
      result.control = value;
    } else {
      result.acknowledge = value;
    }
  }
  if (result.iterations && result.nanoseconds)
    die(kExitUsage, "--iterations and --seconds", "exclude each other");
  if (!result.control != !result.acknowledge)
    die(kExitUsage, "--control and --ack", "need each other");
  if (!result.iterations && !result.nanoseconds) {
    result.iterations = skid_parameters.iterations;
    result.nanoseconds = skid_parameters.nanoseconds;
  }
  return result;
}
