#include "src/instructions/category.h"

namespace skid::instructions {
namespace {

constexpr std::array<std::string_view, kCategories.size()> kNames{
    "GP_LOAD",     "XMM_LOAD", "YMM_LOAD",   "ZMM_LOAD", "STR_LOAD", "PREFETCH", "IO",
    "LOCKED_LOAD", "NT_LOAD",  "OTHER_LOAD", "MFENCE",   "CPUID",    "STORE",    "BRANCH",
    "COND_BRANCH", "JUMP",     "IND_JUMP",   "CALL",     "IND_CALL", "RETURN",   "DIV",
    "VECTOR",      "FLUSH",    "LEA",        "NOP",      "NOMEM",    "LOAD",     "OTHER"};

}  // namespace

std::string_view name_of(Category category) {
  return kNames.at(static_cast<std::size_t>(category));
}

std::string names_of(const Categories& categories) {
  std::string names;
  for (const Category category : kCategories) {
    if (!categories.contains(category)) continue;
    if (!names.empty()) names += ' ';
    names += name_of(category);
  }
  return names;
}

}  // namespace skid::instructions
