// Pieces of HTML and SVG, which can only be made by escaping their content.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::html {

/// Text that is safe in a page, made by `text`, `element` and by joining these.
class Markup {
 public:
  Markup() = default;

  /// `text` with characters of markup as entities, control characters and bytes that are not UTF-8
  /// as \xNN.
  static Markup text(std::string_view text);

  Markup& operator+=(const Markup& other) {
    markup_ += other.markup_;
    return *this;
  }
  friend Markup operator+(Markup left, const Markup& right) { return left += right; }

  bool empty() const noexcept { return markup_.empty(); }
  const std::string& string() const noexcept { return markup_; }

 private:
  friend Markup element(std::string_view,
                        const std::vector<std::pair<std::string_view, std::string>>&,
                        const Markup&);
  std::string markup_;
};

/// Names, which must be literals of this program, and values, which are escaped.
using Attributes = std::vector<std::pair<std::string_view, std::string>>;

/// `<tag name="value">content</tag>`, also where there is no content: tags that HTML does not close
/// (meta, br) are not for this function.
Markup element(std::string_view tag, const Attributes& attributes, const Markup& content = {});
Markup element(std::string_view tag, const Markup& content);
/// The same around plain text, which is escaped.
Markup element(std::string_view tag, const Attributes& attributes, std::string_view text);
Markup element(std::string_view tag, std::string_view text);

}  // namespace skid::html
