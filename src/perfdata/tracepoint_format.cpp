#include "src/perfdata/tracepoint_format.h"

#include <algorithm>
#include <memory>
#include <regex>
#include <utility>

#include <traceevent/event-parse.h>

namespace skid::perfdata {
namespace {

/// Payloads are smaller than the record that holds them.
constexpr int kLargestPayload = 0xffff;
constexpr std::size_t kMostFields = 512;
/// Bytes. libtraceevent's time grows with the square of a line's length.
constexpr std::size_t kLongestLine = 1024;

/// Whether libtraceevent may parse this text. It loses memory of what the kernel does not write,
/// and of names of mac80211's macros ("STA_PR_FMT"), which kernels before 2.6.35 left in their
/// formats.
bool is_plain(std::string_view text) {
  static const std::regex kHead("name: [A-Za-z_]\\w*|ID: \\d+|format:");
  static const std::regex kField(
      "\tfield(?: special)?:(?:__data_loc |__rel_loc )?[A-Za-z_][\\w *]*[ *]\\w+(?:\\[\\w*\\])?;"
      "\toffset:\\d{1,5};\tsize:\\d{1,5};(?:\tsigned:[01];)?");
  static const std::regex kDynamicField(
      "\tfield:__(?:data|rel)_loc [A-Za-z_][\\w *]*\\[\\] \\w+;"
      "\toffset:\\d{1,5};\tsize:4;(?:\tsigned:[01];)?");
  if (text.find("_PR_FMT") != std::string_view::npos) return false;
  for (std::size_t number = 0; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.size() > kLongestLine) return false;
    const auto is = [&](const std::regex& shape) {
      return std::regex_match(line.begin(), line.end(), shape);
    };
    if (number < 3 ? !is(kHead) : !line.empty() && !is(kField) && !is(kDynamicField)) return false;
  }
  return true;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::optional<TracepointField> field_of(const tep_format_field& parsed, unsigned long_size) {
  if (parsed.name == nullptr || parsed.type == nullptr) return std::nullopt;
  if (parsed.offset < 0 || parsed.offset > kLargestPayload) return std::nullopt;
  if (parsed.size < 0 || parsed.size > kLargestPayload) return std::nullopt;
  const auto has = [&](unsigned long flag) { return (parsed.flags & flag) != 0; };
  const std::string_view type = parsed.type;
  TracepointField field;
  field.name = parsed.name;
  field.offset = static_cast<std::uint32_t>(parsed.offset);
  field.size = static_cast<std::uint32_t>(parsed.size);
  field.is_signed = has(TEP_FIELD_IS_SIGNED);
  field.is_array = has(TEP_FIELD_IS_ARRAY) || has(TEP_FIELD_IS_DYNAMIC);
  field.is_text = has(TEP_FIELD_IS_ARRAY) && !has(TEP_FIELD_IS_POINTER) && contains(type, "char") &&
                  !contains(type, "unsigned");
  field.is_hexadecimal = has(TEP_FIELD_IS_POINTER) || (has(TEP_FIELD_IS_LONG) && !field.is_signed);
  if (has(TEP_FIELD_IS_ARRAY)) {
    field.element_size = parsed.elementsize;
    if (field.element_size == 0 && has(TEP_FIELD_IS_LONG)) field.element_size = long_size;
  }
  if (has(TEP_FIELD_IS_DYNAMIC)) {
    field.place = has(TEP_FIELD_IS_RELATIVE) ? TracepointField::Place::rel_loc
                                             : TracepointField::Place::data_loc;
    if (field.size != sizeof(std::uint32_t)) return std::nullopt;
  }
  return field;
}

/// Appends a list of libtraceevent's fields; false when one of them is out of bounds.
bool append(const tep_format_field* first, unsigned long_size,
            std::vector<TracepointField>& fields) {
  for (; first != nullptr; first = first->next) {
    auto field = field_of(*first, long_size);
    if (!field || fields.size() >= kMostFields) return false;
    fields.push_back(std::move(*field));
  }
  return true;
}

}  // namespace

const TracepointField* TracepointFormat::field(std::string_view field_name) const noexcept {
  const auto found =
      std::find_if(fields.begin(), fields.end(),
                   [&](const TracepointField& candidate) { return candidate.name == field_name; });
  return found == fields.end() ? nullptr : &*found;
}

std::optional<TracepointFormat> parse_tracepoint_format(std::string_view system,
                                                        std::string_view text, unsigned long_size) {
  const auto end = text.find("\nprint fmt:");
  if (end == std::string_view::npos || !is_plain(text.substr(0, end))) return std::nullopt;
  const std::string fields = std::string(text.substr(0, end)) + "\nprint fmt: \"\"\n";
  // A handle each: formats of a recording may claim the same id.
  const std::unique_ptr<tep_handle, decltype(&tep_free)> handle(tep_alloc(), &tep_free);
  if (!handle) return std::nullopt;
  tep_set_loglevel(TEP_LOG_NONE);
  tep_set_long_size(handle.get(), static_cast<int>(long_size));
  // Not the system's name: libtraceevent treats the formats of "ftrace" differently.
  if (tep_parse_event(handle.get(), fields.c_str(), fields.size(), "system") != 0) {
    return std::nullopt;
  }
  const tep_event* event = tep_get_first_event(handle.get());
  if (event == nullptr || event->name == nullptr) return std::nullopt;
  if (event->id < 0 || event->id > kLargestPayload) return std::nullopt;  // common_type: 16 bits
  TracepointFormat format;
  format.system = std::string(system);
  format.name = event->name;
  format.id = static_cast<std::uint32_t>(event->id);
  if (!append(event->format.common_fields, long_size, format.fields)) return std::nullopt;
  format.common_fields = format.fields.size();
  if (!append(event->format.fields, long_size, format.fields)) return std::nullopt;
  return format;
}

}  // namespace skid::perfdata
