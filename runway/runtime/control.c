#include "control.h"

#include "system.h"
#include "text.h"

struct control open_control(const char* command, const char* acknowledge) {
  const struct control control = {open_to_write(command), open_to_read(acknowledge)};
  if (control.command < 0) die(kExitFailed, command, "cannot be opened for writing");
  if (control.acknowledge < 0) die(kExitFailed, acknowledge, "cannot be opened for reading");
  return control;
}

// One line of an answer without its end. perf writes the terminator of its C string after the
// newline, so that from the second answer on the line begins with it.
static void read_line(int fd, struct text* line) {
  char byte = 0;
  line->length = 0;
  for (;;) {
    if (read_byte(fd, &byte) <= 0) die(kExitFailed, "--ack:", "closed before the answer came");
    if (byte == '\n') break;
    if (byte && line->length + 1 < sizeof line->bytes) line->bytes[line->length++] = byte;
  }
  line->bytes[line->length] = 0;
}

void send_command(const struct control* control, const char* command) {
  struct text line;
  line.length = 0;
  append(&line, command);
  append(&line, "\n");
  if (write_all(control->command, line.bytes, line.length) != 0)
    die(kExitFailed, "--control:", "cannot be written to");
  do {
    read_line(control->acknowledge, &line);
  } while (!same(line.bytes, "ack"));
}
