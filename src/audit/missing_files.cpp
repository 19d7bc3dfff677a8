#include "src/audit/missing_files.h"

#include "src/audit/findings.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/symbols/address_space.h"
#include "src/symbols/mapped_file.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace skid::audit {

std::vector<MissingFile> missing_files(const locate::Digest& digest, locate::ModuleStore& modules,
                                       const SamplesByFile& samples, const SamplesByFile& records) {
  std::map<symbols::FileIndex, MissingFile> files;
  for (const auto& [file, count] : samples) files[file].samples = count;
  for (const auto& [file, count] : records) files[file].branch_records = count;
  std::vector<MissingFile> missing;
  for (auto& [file, counts] : files) {
    const symbols::MappedFile& mapped = digest.spaces.file(file);
    counts.file = mapped.path;
    counts.build_id = mapped.build_id;
    counts.remark = modules.find(mapped).remark;
    missing.push_back(std::move(counts));
  }
  std::ranges::stable_sort(missing, [](const MissingFile& a, const MissingFile& b) {
    return std::tie(b.samples, b.branch_records) < std::tie(a.samples, a.branch_records);
  });
  return missing;
}

}  // namespace skid::audit
