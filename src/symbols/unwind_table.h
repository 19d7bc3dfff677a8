// Where the functions of a file without symbols are: stack unwinding needs to know it, too.
#pragma once

#include <vector>

namespace skid {
struct AddressRange;
}  // namespace skid

namespace skid::symbols {

class ElfFile;

/// Returns the link-time address ranges of the functions in .eh_frame, by the table of
/// .eh_frame_hdr, lowest first and without overlaps (Linux Standard Base Core, "Exception Frames");
/// empty if the file has no such table, and without the entries that are encoded otherwise than
/// linkers do it: 32 bits, relative to the entry. Of a damaged table, what can be read is returned.
std::vector<AddressRange> unwind_ranges(const ElfFile& file);

}  // namespace skid::symbols
