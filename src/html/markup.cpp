#include "src/html/markup.h"

#include "src/output/escape.h"

namespace skid::html {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char character : output::escape_for_terminal(text)) {
    switch (character) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\'':
        result += "&#39;";
        break;
      default:
        result += character;
    }
  }
  return result;
}

}  // namespace

Markup Markup::text(std::string_view text) {
  Markup markup;
  markup.markup_ = escaped(text);
  return markup;
}

Markup element(std::string_view tag, const Attributes& attributes, const Markup& content) {
  Markup markup;
  std::string& text = markup.markup_;
  text += '<';
  text += tag;
  for (const auto& [name, value] : attributes) {
    text += ' ';
    text += name;
    text += "=\"" + escaped(value) + '"';
  }
  text += '>' + content.string() + "</";
  text += tag;
  text += '>';
  return markup;
}

Markup element(std::string_view tag, const Markup& content) {
  return element(tag, Attributes{}, content);
}

Markup element(std::string_view tag, const Attributes& attributes, std::string_view text) {
  return element(tag, attributes, Markup::text(text));
}

Markup element(std::string_view tag, std::string_view text) {
  return element(tag, Attributes{}, Markup::text(text));
}

}  // namespace skid::html
