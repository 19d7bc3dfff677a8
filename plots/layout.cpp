#include "plots/layout.h"

#include "src/output/escape.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace skid::plots {
namespace {

// Pixels.
constexpr int kMargin = 16;
constexpr int kLeftOfAxis = 84;  // y tics and label
constexpr int kRightOfAxis = 22;
constexpr int kHeadLine = 15;
constexpr int kLegendLine = 16;
constexpr int kBlockName = 28;
constexpr int kCaption = 20;
constexpr int kPanelGap = 8;
constexpr int kNarrowestRowName = 60, kWidestRowName = 180;
constexpr int kWidestRowText = 520;
constexpr int kSwatch = 14, kLineSwatch = 32;

/// Cairo's images end at 32,767 pixels.
constexpr long long kLongestSide = 32'000;

struct CharacterRange {
  char32_t first, last;
};

/// Scripts in use that DejaVu Sans 2.37 has completely, and its signs. Emoji are left out: it has
/// only some.
constexpr std::array<CharacterRange, 37> kDejaVu{
    {{0x20, 0x7e},     {0xa0, 0x2e9},    {0x300, 0x34f},   {0x370, 0x377},   {0x37a, 0x37f},
     {0x384, 0x38a},   {0x38c, 0x38c},   {0x38e, 0x3a1},   {0x3a3, 0x525},   {0x531, 0x556},
     {0x559, 0x55f},   {0x561, 0x587},   {0x5d0, 0x5ea},   {0x60c, 0x60c},   {0x61b, 0x61b},
     {0x61f, 0x61f},   {0x621, 0x63a},   {0x640, 0x655},   {0x660, 0x66d},   {0x679, 0x6bf},
     {0x6f0, 0x6f9},   {0x10d0, 0x10fc}, {0x1e00, 0x1efb}, {0x2010, 0x205e}, {0x2070, 0x2071},
     {0x2074, 0x208e}, {0x20a0, 0x20b5}, {0x2100, 0x2109}, {0x210b, 0x2149}, {0x2150, 0x2185},
     {0x2190, 0x2311}, {0x2500, 0x269c}, {0x2701, 0x2704}, {0x2713, 0x2718}, {0x27f0, 0x28ff},
     {0xfb00, 0xfb06}, {0xfffd, 0xfffd}}};

bool is_in_dejavu(char32_t character) {
  return std::any_of(kDejaVu.begin(), kDejaVu.end(), [character](const CharacterRange& range) {
    return range.first <= character && character <= range.last;
  });
}

/// Unicode 15, chapter 23: private use, and the noncharacters of the Arabic block and of each
/// plane.
bool has_a_picture(char32_t character) {
  const bool is_private = (character >= 0xe000 && character <= 0xf8ff) || character >= 0xf0000;
  const bool nonchar =
      (character >= 0xfdd0 && character <= 0xfdef) || (character & 0xfffe) == 0xfffe;
  return !is_private && !nonchar;
}

/// Of a proportional font, on the wide side, in pixels for a font of one point.
constexpr double kCharacterWidth = 0.78;

int text_width(std::string_view text, int points) {
  return static_cast<int>(static_cast<double>(output::display_width(text)) * kCharacterWidth *
                          points);
}

std::size_t characters_in(int room, int points) {
  return static_cast<std::size_t>(std::max(1.0, room / (kCharacterWidth * points)));
}

/// Below the last panel of a block: tics and the label of its axis.
int height_of_axis(const Axis& axis) {
  if (!axis.label.empty()) return 50;
  const bool labelled = std::any_of(axis.tics.begin(), axis.tics.end(),
                                    [](const Tic& tic) { return !tic.label.empty(); });
  return labelled ? 26 : 10;
}

long long height_of(const Block& block) {
  long long height = block.name.empty() ? 0 : kBlockName;
  for (const Panel& panel : block.panels) {
    height += static_cast<long long>(panel.captions.size()) * kCaption + panel.height + kPanelGap;
  }
  return block.panels.empty() ? height : height + height_of_axis(block.panels.back().x);
}

class Layout {
 public:
  Layout(Figure& figure, Fonts fonts) : figure_(figure), fonts_(fonts) {
    measure_sides();
    const auto columns = static_cast<std::size_t>(std::max(figure.columns, 1));
    figure_.width = static_cast<int>(columns) * column_width();
    head();
    long long top = y_;
    for (std::size_t i = 0; i < figure_.blocks.size(); i += columns) {
      const std::size_t end = std::min(i + columns, figure_.blocks.size());
      long long height = 0;
      for (std::size_t k = i; k < end; ++k) {
        height = std::max(height, height_of(figure_.blocks[k]));
      }
      if (top + height > kLongestSide) throw_too_large();
      for (std::size_t k = i; k < end; ++k) {
        block(figure_.blocks[k], left_ + static_cast<int>(k - i) * column_width(),
              static_cast<int>(top));
      }
      top += height;
    }
    figure_.height = static_cast<int>(top);
  }

 private:
  [[noreturn]] void throw_too_large() const {
    throw Error(fmt::format("figure: {} events do not fit into an image; draw fewer measurements",
                            figure_.blocks.size()));
  }

  std::string shown(const std::string& text) const { return drawable(text, fonts_); }
  int column_width() const { return left_ + figure_.plot_width + right_; }

  void measure_sides() {
    int longest = 0;
    bool rows = false;
    for (const Block& block : figure_.blocks) {
      for (const Panel& panel : block.panels) {
        for (const RowText& row : panel.rows) {
          rows = true;
          longest = std::max(longest, text_width(shown(row.left), 9));
          right_ = std::max(right_, text_width(shown(row.right), 8));
        }
      }
    }
    if (rows) {
      left_ = kMargin + std::clamp(longest + 8, kNarrowestRowName, kWidestRowName);
      right_ = std::min(right_ + 24, kWidestRowText) + kMargin;
      head_left_ = kMargin;
    } else {
      left_ = head_left_ = kLeftOfAxis;
      right_ = kRightOfAxis;
    }
  }

  void text(int x, int y, const std::string& text, int room, int points, Color color) {
    figure_.texts.push_back(
        {x, y, output::shorten(shown(text), characters_in(room, points)), points, color});
  }

  void head() {
    const int room = figure_.width - head_left_ - kMargin;
    if (!figure_.title.empty()) {
      text(head_left_, 18, figure_.title, room, 13, Color::black);
      y_ = 30;
    }
    if (!figure_.remark.empty()) {
      text(head_left_, y_ + 8, figure_.remark, room, 9, Color::grey);
      y_ += 20;
    }
    for (const HeadText& paragraph : figure_.head) {
      int x = head_left_;
      if (paragraph.swatch) {
        figure_.swatches.push_back({{x, y_ + 3, 12, 9}, Fill{*paragraph.swatch}});
        x += 18;
      }
      const std::size_t width = characters_in(room - (x - head_left_), 9);
      auto lines = output::wrap(shown(paragraph.text), width);
      if (lines.size() > paragraph.most_lines) {
        lines.resize(paragraph.most_lines);
        lines.back() =
            output::shorten(lines.back(), width - std::min<std::size_t>(width, 2)) + " …";
      }
      for (const std::string& line : lines) {
        figure_.texts.push_back({x, y_ + 7, line, 9, paragraph.color});
        y_ += kHeadLine;
        if (y_ > kLongestSide) throw_too_large();
      }
    }
    legend(room);
    y_ += 8;
  }

  void legend(int room) {
    if (figure_.legend.empty()) return;
    y_ += 4;
    int x = 0;
    for (const LegendEntry& entry : figure_.legend) {
      const int width = kSwatch + 6 + text_width(shown(entry.name), 9) + 16;
      if (x > 0 && x + width > room) {
        x = 0;
        y_ += kLegendLine;
      }
      figure_.swatches.push_back({{head_left_ + x, y_ + 3, kSwatch, 10}, entry.look});
      text(head_left_ + x + kSwatch + 6, y_ + 8, entry.name, room - x, 9, Color::black);
      x += width;
    }
    y_ += kLegendLine;
  }

  void block(Block& block, int left, int top) {
    if (!block.name.empty()) {
      text(left + head_left_ - left_, top + 12, block.name, column_width() - kMargin, 12,
           Color::black);
      top += kBlockName;
    }
    for (Panel& panel : block.panels) {
      for (const Caption& caption : panel.captions) {
        int x = left;
        if (caption.sample) {
          figure_.swatches.push_back(
              {{x, top + kCaption / 2 - 4, kLineSwatch, 8}, *caption.sample});
          x += kLineSwatch + 6;
        }
        // Smaller where the panel is narrow, so that nothing is cut.
        text(x, top + kCaption / 2, caption.text, left + figure_.plot_width + kRightOfAxis - x,
             figure_.plot_width < 500 ? 8 : 9, Color::black);
        top += kCaption;
      }
      panel.area = {left, top, figure_.plot_width, panel.height};
      for (const RowText& row : panel.rows) {
        const double share = (row.y - panel.y.high) / (panel.y.low - panel.y.high);
        const int y = top + static_cast<int>(share * panel.height);
        text(head_left_, y, row.left, left - head_left_, 9, row.left_color);
        text(left + figure_.plot_width + 14, y, row.right, right_, 8, row.right_color);
      }
      top += panel.height + kPanelGap;
    }
  }

  Figure& figure_;
  Fonts fonts_;
  int left_ = 0, right_ = 0;  ///< of a panel
  int head_left_ = 0;
  int y_ = 6;  ///< where the next part of the head begins
};

}  // namespace

std::string drawable(std::string_view text, Fonts fonts) {
  return output::escape_unless(fonts == Fonts::of_drawers ? is_in_dejavu : has_a_picture,
                               output::escape_for_terminal(text));
}

void lay_out(Figure& figure, Fonts fonts) {
  figure.texts.clear();
  figure.swatches.clear();
  Layout(figure, fonts);
}

}  // namespace skid::plots
