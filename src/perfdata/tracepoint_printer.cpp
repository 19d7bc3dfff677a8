#include "src/perfdata/tracepoint_printer.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include <traceevent/event-parse.h>

namespace skid::perfdata {
namespace {

/// Bytes that a count may lead to from any place in the payload.
constexpr std::uint64_t kRoom = std::uint64_t{64} << 10;
/// An offset, relative to another one, and a length have 16 bits each.
constexpr std::size_t kPadded = std::size_t{4} * (std::size_t{64} << 10);

}  // namespace

void TracepointPrinter::FreeHandle::operator()(tep_handle* handle) const noexcept {
  tep_free(handle);
}

struct TracepointPrinter::Sequence : trace_seq {
  Sequence() : trace_seq{} { trace_seq_init(this); }
  Sequence(const Sequence&) = delete;
  Sequence& operator=(const Sequence&) = delete;
  Sequence(Sequence&&) = delete;
  Sequence& operator=(Sequence&&) = delete;
  ~Sequence() { trace_seq_destroy(this); }
};

TracepointPrinter::~TracepointPrinter() = default;

char* PaddedPayload::hold(std::span<const std::byte> raw) {
  if (bytes_.empty()) bytes_.resize(kPadded);
  std::memcpy(bytes_.data(), raw.data(), raw.size());
  if (raw.size() < used_) std::memset(bytes_.data() + raw.size(), 0, used_ - raw.size());
  used_ = raw.size();
  return bytes_.data();
}

TracepointPrinter::TracepointPrinter(const TracepointFormat& format, ByteOrder order,
                                     unsigned long_size, std::uint32_t page_size) {
  tep_set_loglevel(TEP_LOG_NONE);  // what it cannot read is no concern of standard error
  handle_.reset(tep_alloc());
  if (!handle_) return;
  sequence_ = std::make_unique<Sequence>();
  tep_set_file_bigendian(handle_.get(),
                         order == ByteOrder::big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
  tep_set_long_size(handle_.get(), static_cast<int>(long_size));
  tep_set_page_size(handle_.get(), static_cast<int>(std::min<std::uint32_t>(
                                       page_size, std::numeric_limits<int>::max())));
  if (auto limits = check_print_format(format, kRoom)) {
    limits_ = std::move(*limits);
    checked_ = true;
  }
  const std::string file = format_file(format, checked_ ? format.print : "\"\"");
  // The system tells libtraceevent of formats with a meaning of their own (ftrace's bprint, whose
  // payload holds addresses of formats), which no event of perf has.
  const std::string system = format.system == "ftrace" ? "ftrace_" : format.system;
  (void)tep_parse_event(handle_.get(), file.c_str(), file.size(), system.c_str());
  event_ = tep_find_event(handle_.get(), static_cast<int>(format.id));
}

std::optional<std::string> TracepointPrinter::print(std::span<const std::byte> raw,
                                                    PaddedPayload& payload) {
  if (event_ == nullptr || raw.empty() || raw.size() > PaddedPayload::kLargest) return std::nullopt;
  char* data = payload.hold(raw);
  const int size = static_cast<int>(raw.size());
  trace_seq_reset(sequence_.get());
  if (checked_) {
    tep_record record{};
    record.size = size;
    record.data = data;
    tep_print_event(handle_.get(), sequence_.get(), &record, "%s", TEP_PRINT_INFO);
  } else {
    trace_seq_puts(sequence_.get(), "[FAILED TO PARSE]");
    tep_print_fields(sequence_.get(), data, size, event_);
  }
  if (sequence_->state != TRACE_SEQ__GOOD) return std::nullopt;
  return std::string(sequence_->buffer, sequence_->len);
}

}  // namespace skid::perfdata
