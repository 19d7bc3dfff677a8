#include "src/synth/model_fields.h"

#include <map>
#include <optional>
#include <utility>

namespace skid::synth {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostParts = 64;
constexpr int kDeepestMixture = 8;

int offset_of(const JsonValue& value) {
  constexpr auto kFurthest = static_cast<int>(kFurthestOffset);
  return value.integer(-kFurthest, kFurthest);
}

Empirical read_counts(const JsonValue& value) {
  constexpr std::size_t kMostRows = 65'536;
  constexpr std::size_t kFieldsOfARow = 3;
  Empirical table;
  for (const JsonValue& row : value.elements(kMostRows)) {
    const auto fields = row.elements(kFieldsOfARow);
    if (fields.size() < 2) {
      row.refuse(fmt::format("{} numbers", fields.size()),
                 "[offset, count] or [lowest, highest, count]");
    }
    const std::int64_t lowest = offset_of(fields.front());
    const std::int64_t highest = offset_of(fields[fields.size() - 2]);
    if (highest < lowest) row.refuse("a highest offset below the lowest", "one above");
    table.rows.push_back({lowest, highest, fields.back().unsigned_integer(kMostSamples)});
  }
  if (table.total() == 0) value.refuse("no sample", "at least one");
  if (table.span() > kWidestTable) {
    value.refuse(fmt::format("{} offsets", table.span()), fmt::format("at most {}", kWidestTable));
  }
  return table;
}

Empirical read_empirical(const JsonValue& object, const fs::path& directory) {
  object.allow_only({"kind", "csv", "where", "counts"});
  const auto csv = object.find("csv");
  const auto counts = object.find("counts");
  if (csv.has_value() == counts.has_value()) {
    object.refuse(csv ? "both tables" : "no table", "one of \"csv\" and \"counts\"");
  }
  if (counts) return read_counts(*counts);
  std::map<std::string, std::string> where;
  if (const auto conditions = object.find("where")) {
    for (const JsonValue& condition : conditions->elements(kMostParts)) {
      condition.allow_only({"column", "value"});
      where.emplace(text_of(condition["column"]), text_of(condition["value"]));
    }
  }
  return read_offset_table(directory / text_of(*csv), where);
}

Uniform read_uniform(const JsonValue& object) {
  object.allow_only({"kind", "lowest", "highest"});
  const Uniform uniform{offset_of(object["lowest"]), offset_of(object["highest"])};
  if (uniform.highest < uniform.lowest) {
    object["highest"].refuse(fmt::format("{}", uniform.highest),
                             fmt::format("at least \"lowest\", {}", uniform.lowest));
  }
  return uniform;
}

NormalCycles read_normal(const JsonValue& object) {
  constexpr double kMostCycles = 1e9;
  constexpr std::uint64_t kLargestGroup = 64;
  NormalCycles normal;
  read_fields(object, {{"kind"},
                       {"mean", number(normal.mean, -kMostCycles, kMostCycles), kRequired},
                       {"stddev", number(normal.stddev, 0, kMostCycles), kRequired},
                       {"cycles_per_nop", number(normal.cycles_per_nop, 0.01, 1e6)},
                       {"retire_group", whole(normal.retire_group, 1, kLargestGroup)}});
  return normal;
}

Distribution read_part(const JsonValue& object, const fs::path& directory, int depth);

Mixture read_mixture(const JsonValue& object, const fs::path& directory, int depth) {
  object.allow_only({"kind", "shares", "parts"});
  if (depth >= kDeepestMixture) {
    object.refuse("a mixture in so many others", fmt::format("at most {}", kDeepestMixture));
  }
  Mixture mixture;
  mixture.shares = shares_of(object["shares"], kMostParts);
  const JsonValue parts = object["parts"];
  for (const JsonValue& part : parts.elements(kMostParts)) {
    mixture.parts.push_back(read_part(part, directory, depth + 1));
  }
  if (mixture.parts.size() != mixture.shares.size()) {
    parts.refuse(fmt::format("{} parts", mixture.parts.size()),
                 fmt::format("as many as \"shares\", {}", mixture.shares.size()));
  }
  return mixture;
}

Distribution read_part(const JsonValue& object, const fs::path& directory, int depth) {
  static constexpr std::array<std::string_view, 5> kKinds{"constant", "uniform", "empirical",
                                                          "normal_cycles", "mixture"};
  switch (choice(object["kind"], kKinds)) {
    case 0:
      object.allow_only({"kind", "offset"});
      return {Constant{offset_of(object["offset"])}};
    case 1:
      return {read_uniform(object)};
    case 2:
      return {read_empirical(object, directory)};
    case 3:
      return {read_normal(object)};
    default:
      return {read_mixture(object, directory, depth)};
  }
}

}  // namespace

Distribution read_distribution(const JsonValue& object, const fs::path& directory) {
  return read_part(object, directory, 0);
}

}  // namespace skid::synth
