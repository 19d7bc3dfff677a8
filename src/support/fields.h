// The members of a struct with their keys, in one list for writing and reading JSON.
//
//   SKID_FIELDS(machine::DataCache, level, bytes)
//
// declares `fields(io, cache)`, which calls `io("level", cache.level)` and so on. A struct with
// other keys than its members' names, or with limits, has a list of its own:
//
//   void fields(auto& io, Of<SampleTime> auto& time) { io("first", time.first, {.most = 100}); }
//
// Lists are in namespace skid, or in that of the struct, where FieldWriter and FieldReader find
// them. There is one list for a struct in the whole program.
#pragma once

#include "src/support/field_writer.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#define SKID_FIELD(member) io(#member, value.member);
/// In a list for `io`: the members of `value` whose keys are their names.
#define SKID_MEMBERS(...) NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(SKID_FIELD, __VA_ARGS__))
/// The list of a struct whose keys are the names of its members.
#define SKID_FIELDS(Type, ...)                          \
  void fields(auto& io, ::skid::Of<Type> auto& value) { \
    SKID_MEMBERS(__VA_ARGS__)                           \
  }
