#include "src/synth/model_fields.h"

#include <cmath>

namespace skid::synth {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestText = 1024;

}  // namespace

void read_fields(const JsonValue& object, const std::vector<Field>& fields) {
  std::vector<std::string_view> keys;
  for (const Field& field : fields) keys.push_back(field.key);
  object.allow_only(keys);
  for (const Field& field : fields) {
    if (!field.take) continue;
    if (const auto value = object.find(field.key)) {
      field.take(*value);
    } else if (field.required) {
      field.take(object[field.key]);
    }
  }
}

std::string text_of(const JsonValue& value) {
  std::string text = value.string();
  const bool printable = std::all_of(text.begin(), text.end(), [](char character) {
    return static_cast<unsigned char>(character) >= 0x20 && character != 0x7f;
  });
  if (!printable || text.size() > kLongestText) {
    value.refuse(printable ? fmt::format("{} bytes", text.size()) : json_text(json(text)),
                 fmt::format("at most {} printable bytes", kLongestText));
  }
  return text;
}

std::vector<double> shares_of(const JsonValue& value, std::size_t most) {
  std::vector<double> shares;
  double sum = 0;
  for (const JsonValue& element : value.elements(most)) {
    shares.push_back(element.number(0, 1));
    sum += shares.back();
  }
  if (std::abs(sum - 1) > kSumTolerance) {
    value.refuse(fmt::format("shares that add up to {}", sum), "1");
  }
  return shares;
}

}  // namespace skid::synth
