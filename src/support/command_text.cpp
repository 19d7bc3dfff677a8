#include "src/support/command_text.h"

#include "src/support/escape.h"
#include "src/support/process.h"

namespace skid {

std::string command_text(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    std::string plain;
    for (const char c : word) {
      plain += c == '\'' || c == '\\' ? std::string{'\\', c} : std::string{c};
    }
    const std::string escaped = escape_for_terminal(plain);
    line += escaped == plain ? shell_quoted({word}) : "$'" + escaped + "'";
  }
  return line;
}

std::string file_word(const std::string& name) {
  return name.size() > 1 && name.starts_with('-') ? "./" + name : name;
}

}  // namespace skid
