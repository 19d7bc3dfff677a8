// Lists in feature sections: a count, then that many elements.
#pragma once

#include "src/perfdata/bytes.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace skid::perfdata {

/// Far above any list that perf writes. An element may use many times more bytes in memory than in
/// the file, where an empty string has four.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 20;

/// Replaces `list` by the results of `read_element(reader)`, `count` times or until the section
/// ends. Memory grows with the elements that are read, so any count is safe. When the section ends
/// inside an element, that one is left out and the reader fails; it also fails after kMostElements.
template <typename Element, typename ReadElement>
void read_list(ByteReader& reader, std::uint64_t count, std::vector<Element>& list,
               const ReadElement& read_element) {
  list.clear();
  for (std::uint64_t i = 0; i < count && !reader.failed(); ++i) {
    if (i == kMostElements) return reader.fail();
    Element element = read_element(reader);
    if (!reader.failed()) list.push_back(std::move(element));
  }
}

/// struct perf_header_string_list: a u32 count and the strings.
inline void read_texts(ByteReader& reader, std::vector<std::string>& texts) {
  read_list(reader, reader.u32(), texts,
            [](ByteReader& text) { return std::string(text.counted_text()); });
}

}  // namespace skid::perfdata
