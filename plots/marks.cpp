#include "plots/marks.h"

#include <fmt/format.h>

namespace skid::plots {

std::string even_line(double height) {
  return fmt::format(
      "set arrow from graph 0,first {0:.10g} to graph 1,first {0:.10g} nohead dt 2 lw 1 front",
      height);
}

}  // namespace skid::plots
