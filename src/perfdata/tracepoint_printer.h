// One tracepoint's print fmt, carried out by libtraceevent.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/perfdata/print_format.h"
#include "src/perfdata/tracepoint_format.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct tep_handle;
struct tep_event;

namespace skid::perfdata {

/// A payload with NULs behind it, as far as any offset, length or count that passed the checks can
/// lead.
class PaddedPayload {
 public:
  /// The largest payload that there can be: a record is smaller.
  static constexpr std::size_t kLargest = std::size_t{64} << 10;

  /// Copies a payload of at most kLargest bytes; what this gives is valid until the next call.
  char* hold(std::span<const std::byte> raw);

 private:
  std::vector<char> bytes_;
  std::size_t used_ = 0;  ///< bytes of the last payload
};

/// Prints payloads of one tracepoint. libtraceevent finds the format by the payload's common_type;
/// a handle of its own for each tracepoint keeps it from finding one that was not checked.
class TracepointPrinter {
 public:
  /// page_size: bytes, as the recording tells it. Never throws for a format that libtraceevent does
  /// not understand; such a printer prints nothing.
  TracepointPrinter(const TracepointFormat& format, ByteOrder order, unsigned long_size,
                    std::uint32_t page_size);
  TracepointPrinter(const TracepointPrinter&) = delete;
  TracepointPrinter& operator=(const TracepointPrinter&) = delete;
  TracepointPrinter(TracepointPrinter&&) = delete;
  TracepointPrinter& operator=(TracepointPrinter&&) = delete;
  ~TracepointPrinter();

  /// What has to hold for a payload before it is printed.
  const std::vector<CountLimit>& limits() const noexcept { return limits_; }

  /// The text of a payload whose fields are known to fit (Tracepoints::fits) and whose counts are
  /// within `limits`; `payload` is where it is copied to. nullopt when libtraceevent did not take
  /// the format.
  std::optional<std::string> print(std::span<const std::byte> raw, PaddedPayload& payload);

 private:
  struct FreeHandle {
    void operator()(tep_handle* handle) const noexcept;
  };
  struct Sequence;  ///< where libtraceevent prints to

  std::vector<CountLimit> limits_;
  bool checked_ = false;  ///< the print fmt is one that libtraceevent may carry out
  std::unique_ptr<tep_handle, FreeHandle> handle_;
  std::unique_ptr<Sequence> sequence_;
  tep_event* event_ = nullptr;  ///< owned by the handle; null when it did not take the format
};

}  // namespace skid::perfdata
