// A target from its first instruction to its report. What holds after each step is what the next
// one relies on: nothing but the loop runs while events are counted, and it runs warm.

#include "arch.h"
#include "arguments.h"
#include "chase.h"
#include "control.h"
#include "measure.h"
#include "system.h"
#include "text.h"

enum {
  kLoadSegment = 1,         // PT_LOAD
  kWritable = 2,            // PF_W
  kProgramHeaders = 3,      // AT_PHDR
  kProgramHeaderCount = 5,  // AT_PHNUM
  kSmallestPage = 4096,
  kHugePage = 2 << 20,  // of x86-64
};

struct program_header {  // Elf64_Phdr
  unsigned type, flags;
  u64 offset, virtual_address, physical_address, file_size, memory_size, alignment;
};

// The "warnings" of the report.
static void begin_warning(struct text* warnings) {
  append(warnings, warnings->length ? ", \"" : "\"");
}

static void warn(struct text* warnings, const char* what, int error) {
  begin_warning(warnings);
  append(warnings, what);
  append(warnings, " refused (errno ");
  append_number(warnings, (u64)error);
  append(warnings, ")\"");
}

// The CPU pinned to, or -1.
static i64 pin(const struct arguments* arguments, struct text* warnings) {
  u64 cpu = arguments->cpu;
  int error = arguments->cpu_given ? 0 : current_cpu(&cpu);
  if (!error) error = pin_to(cpu);
  if (!error) return (i64)cpu;
  warn(warnings, "sched_setaffinity", error);
  return -1;
}

// Addresses of memory.
struct range {
  u64 begin, end;
};

// Where the pointer chase goes, in huge pages if they can be had: with small ones each load of a
// large chase would miss the TLB as well.
static struct range make_chase(struct text* warnings) {
  const u64 elements = skid_parameters.elements;
  struct range chase = {0, 0};
  if (!elements) return chase;
  const u64 bytes = (elements * skid_parameters.stride + kHugePage - 1) / kHugePage * kHugePage;
  char* memory = map_memory(bytes + kHugePage);
  if (!memory) die(kExitFailed, "mmap:", "no memory for the working set");
  memory += -(u64)memory % kHugePage;
  const int error = ask_for_huge_pages(memory, bytes);
  if (error) warn(warnings, "madvise(MADV_HUGEPAGE)", error);
  chase.begin = (u64)memory;
  chase.end = chase.begin + (elements - 1) * skid_parameters.stride;  // the last is the datum
  link_chase(memory, elements, skid_parameters.stride, skid_datum);
  const u64 huge = huge_page_bytes();
  if (error || huge >= bytes) return chase;
  begin_warning(warnings);
  append_number(warnings, huge / 1024);
  append(warnings, " of ");
  append_number(warnings, bytes / 1024);
  append(warnings, " KiB of the working set are in huge pages: its loads miss the TLB as well\"");
  return chase;
}

static void lock(struct text* warnings) {
  const int error = lock_memory();
  if (error) warn(warnings, "mlockall", error);
  if (!skid_parameters.given_back) return;
  // Locked pages cannot be given back, and a loop that gives none back would not fault.
  unlock_memory(skid_datum, skid_parameters.given_back);
  if (give_back_memory(skid_datum, skid_parameters.given_back) != 0)
    die(kExitFailed, "madvise(MADV_DONTNEED)",
        "refused: this kernel makes no page faults to order");
}

// Touches every page of code and data, in case they could not be locked.
static void touch(const u64* auxiliary) {
  const struct program_header* header = 0;
  u64 count = 0;
  for (; auxiliary[0]; auxiliary += 2) {
    if (auxiliary[0] == kProgramHeaders) header = (const struct program_header*)auxiliary[1];
    if (auxiliary[0] == kProgramHeaderCount) count = auxiliary[1];
  }
  for (; header && count > 0; --count, ++header) {
    if (header->type != kLoadSegment) continue;
    const u64 end = header->virtual_address + header->memory_size;
    u64 address = header->virtual_address;
    while (address < end) {
      volatile char* const byte = (volatile char*)address;
      const int given_back = address - (u64)skid_datum < skid_parameters.given_back;
      if (!given_back && header->flags & kWritable) {
        *byte = *byte;
      } else if (!given_back) {
        (void)*byte;
      }
      address = (address & ~(u64)(kSmallestPage - 1)) + kSmallestPage;
    }
  }
}

struct report {
  u64 iterations, nanoseconds, nanoticks_per_nop, ticks_per_second;
  i64 cpu;
  struct range chase;  // its elements, or empty
};

static void print(const struct report* report, const struct text* warnings) {
  struct text line;
  line.length = 0;
  append(&line, "{\"skidscan_target_report\": 1, \"iterations\": ");
  append_number(&line, report->iterations);
  append(&line, ", \"elapsed_seconds\": ");
  append_decimal(&line, report->nanoseconds, 9);
  append(&line, ", \"ticks_per_nop\": ");
  append_decimal(&line, report->nanoticks_per_nop, 9);
  append(&line, ", \"ticks_per_second\": ");
  append_number(&line, report->ticks_per_second);
  append(&line, ", \"cpu\": ");
  if (report->cpu < 0) {
    append(&line, "-1");
  } else {
    append_number(&line, (u64)report->cpu);
  }
  if (report->chase.end) {
    append(&line, ", \"chase\": {\"begin\": ");
    append_number(&line, report->chase.begin);
    append(&line, ", \"end\": ");
    append_number(&line, report->chase.end);
    append(&line, "}");
  }
  append(&line, ", \"warnings\": [");
  append(&line, warnings->bytes);
  append(&line, "]}\n");
  const int error = write_all(1, line.bytes, line.length);
  if (error) die(kExitFailed, "standard output:", "cannot be written to");
}

// `stack` as the kernel lays it out: argc, argv, 0, environment, 0, auxiliary vector.
_Noreturn void skid_main(u64* stack) {
  char** const argv = (char**)(stack + 1);
  const struct arguments arguments = arguments_from(argv);
  u64* environment = stack + 1 + stack[0] + 1;
  while (*environment) ++environment;

  struct text warnings;
  warnings.length = 0;
  struct report report = {0};
  // Without the perf that we talk to we would wait for it, or load its CPU. Where this is not to be
  // had, nothing is lost.
  if (arguments.control) die_with_parent();
  report.cpu = pin(&arguments, &warnings);
  report.chase = make_chase(&warnings);
  lock(&warnings);
  touch(environment + 1);
  warnings.bytes[warnings.length] = 0;

  const struct pace pace = warm_up();
  report.ticks_per_second = pace.ticks_per_second;
  report.nanoticks_per_nop = nanoticks_per_nop(pace.ticks_per_second);

  struct control control = {-1, -1};
  if (arguments.control) {
    control = open_control(arguments.control, arguments.acknowledge);
    send_command(&control, "enable");
  }
  const u64 begin = monotonic();
  if (arguments.iterations) {
    skid_enter(arguments.iterations, skid_loop);
    report.iterations = arguments.iterations;
  } else {
    report.iterations = run_for(arguments.nanoseconds, pace.iterations);
  }
  report.nanoseconds = monotonic() - begin;
  if (arguments.control) send_command(&control, "disable");

  print(&report, &warnings);
  leave(kExitDone);
}
