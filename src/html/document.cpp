#include "src/html/document.h"

#include "analysis/wording.h"
#include "assets.h"
#include "src/support/process.h"

#include <fmt/format.h>

namespace skid::html {
namespace {

Markup command_line(const std::vector<std::string>& line) {
  return element("pre", element("code", shell_quoted(line)));
}

/// The section with the command lines, and the foot of the page.
Markup origin_section(const Origin& origin) {
  Markup content = element("h2", "How to repeat it");
  if (!origin.recorded.empty()) {
    content += element("p", "Recorded, according to runs and recordings, by");
    for (const auto& line : origin.recorded) content += command_line(line);
    if (origin.left_out > 0) {
      content += element("p", fmt::format("and {} more, which the JSON report lists",
                                          analysis::counted(origin.left_out, "command line")));
    }
    content += element("p", "and shown by");
  }
  content += command_line(origin.line);
  return element("section", {{"id", "repeat"}}, content) +
         element("footer", fmt::format("skidscan {}", origin.version));
}

}  // namespace

Markup origin_box(output::SampleOrigin origin, const std::string& of) {
  if (origin == output::SampleOrigin::cpu) return {};
  const output::OriginNotice notice = output::origin_notice(origin, of);
  return element("p", {{"class", "origin"}}, fmt::format("{}: {}", notice.title, notice.text));
}

std::string document(const std::string& title, const std::string& heading, const std::string& lead,
                     const Markup& body, const Origin& origin) {
  const Markup head = element("h1", heading) + element("p", {{"class", "lead"}}, lead);
  const Markup content = element("header", head) + element("main", body) + origin_section(origin);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "{}\n<style>{}</style>\n</head>\n<body>\n{}\n<script>{}</script>\n</body>\n</html>\n",
      kStyleHash, kScriptHash, element("title", title).string(), kStyle, content.string(), kScript);
}

}  // namespace skid::html
