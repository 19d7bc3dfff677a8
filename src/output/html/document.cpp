#include "src/output/html/document.h"

#include "analysis/wording.h"
#include "assets.h"
#include "src/output/html/elements.h"
#include "src/support/process.h"

#include <fmt/format.h>

namespace skid::output::html {
namespace {

std::string command_line(const std::vector<std::string>& line) {
  return element("pre", "", escaped(shell_quoted(line)));
}

/// The section with the command lines, and the foot of the page.
std::string origin_section(const Origin& origin) {
  std::string content = element("h2", "", "How to repeat it");
  if (!origin.recorded.empty()) {
    content += element("p", "", "Recorded, according to runs and recordings, by");
    for (const auto& line : origin.recorded) content += command_line(line);
    if (origin.left_out > 0) {
      content += element("p", "",
                         fmt::format("and {} more, which the JSON report lists",
                                     analysis::counted(origin.left_out, "command line")));
    }
    content += element("p", "", "and shown by");
  }
  content += command_line(origin.line);
  return content + element("footer", "", "skidscan " + escaped(origin.version));
}

}  // namespace

std::string document(std::string_view title, const std::string& body, const Origin& origin) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src '{}'; script-src '{}'; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}{}<script>{}</script>\n</body>\n"
      "</html>\n",
      kStyleHash, kScriptHash, title, kStyle, body, origin_section(origin), kScript);
}

}  // namespace skid::output::html
