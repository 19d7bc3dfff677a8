#include "plots/figure_file.h"

#include "src/support/error.h"

#include <fmt/format.h>

namespace skid::plots {

void check_plot_file(const std::filesystem::path& file) {
  const std::string extension = file.extension().string();
  if (extension == ".png" || extension == ".svg" || extension == ".pdf") return;
  throw UsageError(fmt::format("{}: cannot draw '{}'; allowed are .png, .svg and .pdf",
                               file.string(), extension));
}

Terminal terminal_for(const std::filesystem::path& file, int width, int height) {
  const std::string extension = file.extension().string();
  if (extension == ".png") {
    return {"pngcairo", fmt::format("noenhanced size {},{} font 'Sans,10' background rgb '#ffffff'",
                                    width, height)};
  }
  if (extension == ".svg") {
    return {
        "svg",
        fmt::format("noenhanced size {},{} font 'Sans,10' fontscale 1.33 background rgb '#ffffff'",
                    width, height)};
  }
  return {"pdfcairo", fmt::format("noenhanced size {:.4f}in,{:.4f}in font 'Sans,10' fontscale 1.0",
                                  width / 96.0, height / 96.0)};
}

}  // namespace skid::plots
