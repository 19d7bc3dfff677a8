// perf's side of the counting: `perf record -D -1 --control fifo:CONTROL,ACK`.
#pragma once

struct control {
  int command;      // descriptor that commands are written to
  int acknowledge;  // descriptor that answers are read from
};

// Opens the two FIFOs, waiting for the other side to open them as well. Exits when it cannot.
struct control open_control(const char* command, const char* acknowledge);

// Sends "enable" or "disable" and waits until it is done. Exits when the other side is gone.
void send_command(const struct control* control, const char* command);
