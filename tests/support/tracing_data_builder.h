// The bytes of a HEADER_TRACING_DATA section, as perf writes them.
#pragma once

#include "tests/support/recording_builder.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::test {

/// The start of every tracepoint's format, except its name and id.
inline std::string format_text(std::string_view name, unsigned id, std::string_view fields,
                               std::string_view print) {
  std::string text = "name: " + std::string(name) + "\nID: " + std::to_string(id) + "\nformat:\n";
  text +=
      "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
      "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
      "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
      "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n";
  text += fields;
  text += "\nprint fmt: ";
  text += print;
  return text + "\n";
}

/// /sys/kernel/tracing/events/exceptions/page_fault_user/format of Linux 6.18 on x86.
inline std::string page_fault_format(unsigned id) {
  return format_text("page_fault_user", id,
                     "\tfield:unsigned long address;\toffset:8;\tsize:8;\tsigned:0;\n"
                     "\tfield:unsigned long ip;\toffset:16;\tsize:8;\tsigned:0;\n"
                     "\tfield:unsigned long error_code;\toffset:24;\tsize:8;\tsigned:0;\n",
                     "\"address=0x%lx ip=0x%lx error_code=0x%lx\", "
                     "REC->address, REC->ip, REC->error_code");
}

/// Systems and their formats; the rest of the section is minimal.
inline std::string tracing_data(
    const std::vector<std::pair<std::string, std::vector<std::string>>>& systems,
    bool big_endian = false) {
  auto out = writer_of(big_endian);
  out.raw("\x17\x08\x44tracing").raw("0.6").u8(0);
  out.u8(big_endian ? 1 : 0).u8(8).u32(4096);
  out.raw("header_page").u8(0).u64(3).raw("abc");
  out.raw("header_event").u8(0).u64(2).raw("de");
  out.u32(0);  // formats of ftrace
  out.u32(static_cast<std::uint32_t>(systems.size()));
  for (const auto& [system, formats] : systems) {
    out.raw(system).u8(0).u32(static_cast<std::uint32_t>(formats.size()));
    for (const auto& format : formats) out.u64(format.size()).raw(format);
  }
  out.u32(0).u32(0).u64(0);  // kernel symbols, printk formats, command lines
  return out.bytes();
}

}  // namespace skid::test
