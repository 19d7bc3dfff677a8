// The working set of a target that is built already.

#include "runway/note.h"
#include "runway/target.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace skid::runway {

namespace {

std::string word_of(std::uint64_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// The members `elements` and `stride` of struct parameters in runtime/runway.h.
std::string chase_parameters(const Specification& specification) {
  return word_of(elements_of(specification)) + word_of(chase_stride(specification.trigger));
}

/// Where the target has bytes that it has once.
std::size_t place_of(std::string_view bytes, std::string_view target) {
  const std::size_t place = target.find(bytes);
  if (place == target.npos || target.find(bytes, place + 1) != target.npos) {
    throw Error("a target whose working set cannot be changed; expected one of this version");
  }
  return place;
}

}  // namespace

std::string with_working_set(const Target& target, std::uint64_t working_set) {
  using std::string_view_literals::operator""sv;
  constexpr std::string_view kBuildIdNote = "\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0"sv;
  const Specification& old = target.description.specification;
  Specification wanted = old;
  wanted.working_set_bytes = working_set;
  check(wanted);
  std::string bytes = read_file(target.path, kLargestTarget);
  const std::string parameters = chase_parameters(wanted);
  bytes.replace(place_of(chase_parameters(old), bytes), parameters.size(), parameters);
  const std::size_t others = target.description.layout.other_triggers.size();
  const std::string note = note_text(old, others);
  std::string wanted_note = note_text(wanted, others);
  wanted_note.resize(std::max(note.size(), wanted_note.size()), ' ');
  bytes.replace(place_of(note, bytes), wanted_note.size(), wanted_note);
  const std::size_t id_at = place_of(kBuildIdNote, bytes) + kBuildIdNote.size();
  const std::string difference = word_of(old.working_set_bytes ^ working_set);
  for (std::size_t i = 0; i < difference.size(); ++i) {
    bytes.at(id_at + i) = static_cast<char>(bytes.at(id_at + i) ^ difference[i]);
  }
  return bytes;
}

}  // namespace skid::runway
