#include "src/html/document.h"

#include "src/html/assets.h"
#include "src/support/process.h"

#include <fmt/format.h>

namespace skid::html {

std::string document(const std::string& title, const Markup& body) {
  const Asset css = style();
  const Asset javascript = script();
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "{}\n<style>{}</style>\n</head>\n<body>\n{}\n<script>{}</script>\n</body>\n</html>\n",
      css.hash, javascript.hash, element("title", title).string(), css.text, body.string(),
      javascript.text);
}

Markup list_of_fields(const std::vector<Field>& fields) {
  Markup content;
  for (const Field& field : fields) {
    content += element("dt", field.name) + element("dd", field.text);
  }
  return element("dl", content);
}

Markup synthetic_notice(const std::string& of) {
  return element("p", {{"class", "synthetic"}},
                 "SYNTHETIC" + (of.empty() ? std::string() : ' ' + of) +
                     ": samples made by skidscan synth; no CPU took them");
}

Markup origin_section(const Origin& origin) {
  Markup list;
  for (const auto& line : origin.lines) {
    list += element("pre", element("code", shell_quoted(line)));
  }
  return element("section", {{"id", "repeat"}}, element("h2", "How to repeat it") + list) +
         element("footer", fmt::format("skidscan {}", origin.version));
}

}  // namespace skid::html
