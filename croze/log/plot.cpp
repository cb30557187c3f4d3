// plot.cpp -- curves mapped to points of a picture; round numbers at the axes.
#include "croze/log/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace croze::logs {
namespace {

// What an axis shows, from one number to a larger one.
struct Extent {
  double from = std::numeric_limits<double>::infinity(), to = -from;

  void add(double value) {
    from = std::min(from, value);
    to = std::max(to, value);
  }
  void close() {
    if (!(from <= to)) *this = {0, 1};
    if (from == to) to = from + std::max(1., std::abs(from));
  }
  double share(double value) const { return (value - from) / (to - from); }
};

struct Extents {
  Extent x, y;
};

bool is_shown(const std::pair<double, double>& point) {
  return std::isfinite(point.first) && std::isfinite(point.second);
}

Extents extents_of(std::span<const Curve> curves) {
  Extents e;
  for (const Curve& curve : curves) {
    for (const auto& point : curve.points) {
      if (!is_shown(point)) continue;
      e.x.add(point.first);
      e.y.add(point.second);
    }
  }
  e.x.close();
  e.y.close();
  return e;
}

// 1, 2 or 5 times a power of ten, so that about `count` of them fill the extent.
double round_distance(const Extent& extent, int count) {
  const double distance = (extent.to - extent.from) / count;
  const double power = std::pow(10, std::floor(std::log10(distance)));
  for (const double factor : {1., 2., 5.}) {
    if (distance <= factor * power) return factor * power;
  }
  return 10 * power;
}

std::vector<double> marks(const Extent& extent, int count) {
  const double distance = round_distance(extent, count);
  std::vector<double> result;
  // Counted, since sums of small numbers to large ones might stand still.
  const double first = std::ceil(extent.from / distance - 1e-9);
  for (int i = 0; i <= 2 * count && (first + i) * distance <= extent.to + 1e-9 * distance; i++) {
    const double mark = (first + i) * distance;
    result.push_back(std::abs(mark) < distance / 2 ? 0 : mark);
  }
  return result;
}

std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '<': result += "&lt;"; break;
      case '>': result += "&gt;"; break;
      case '&': result += "&amp;"; break;
      default: result += c;
    }
  }
  return result;
}

constexpr const char* colours[] = {"#1f77b4", "#d62728", "#2ca02c", "#ff7f0e",
                                   "#9467bd", "#8c564b", "#e377c2", "#17becf"};

class SvgPlot {
 public:
  explicit SvgPlot(const Extents& extents) : extents_(extents) {}

  void begin(const PlotLabels& labels) {
    add(R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 720 420" width="720" height="420" )"
        R"(font-family="sans-serif" font-size="12">)"
        "\n"
        R"(<rect width="720" height="420" fill="white"/>)"
        "\n");
    text(360, 24, "middle", labels.title, R"( font-size="16")");
    text(380, 412, "middle", labels.x);
    text(18, 210, "middle", labels.y, " transform=\"rotate(-90 18 210)\"");
  }
  void axes() {
    for (const double mark : marks(extents_.x, 8)) {
      line(x(mark), top, x(mark), bottom);
      text(x(mark), bottom + 18, "middle", fmt::format("{:.6g}", mark));
    }
    for (const double mark : marks(extents_.y, 6)) {
      line(left, y(mark), right, y(mark));
      text(left - 6, y(mark) + 4, "end", fmt::format("{:.6g}", mark));
    }
  }
  void curve(const Curve& curve, std::size_t number) {
    const char* colour = colours[number % std::size(colours)];
    add(R"(<polyline fill="none" stroke-width="1.5" stroke="{}" points=")", colour);
    for (const auto& point : curve.points) {
      if (is_shown(point)) add("{:.1f},{:.1f} ", x(point.first), y(point.second));
    }
    add("\"/>\n");
    const double height = top + 18 + 18 * static_cast<double>(number);
    add(R"(<rect x="{}" y="{}" width="14" height="4" fill="{}"/>)"
        "\n",
        right - 130, height - 6, colour);
    text(right - 110, height, "start", curve.name);
  }
  std::string end() {
    add("</svg>\n");
    return std::move(svg_);
  }

 private:
  static constexpr double left = 64, right = 700, top = 40, bottom = 376;

  double x(double value) const { return left + extents_.x.share(value) * (right - left); }
  double y(double value) const { return bottom - extents_.y.share(value) * (bottom - top); }

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(svg_), format, std::forward<Args>(args)...);
  }
  void line(double x1, double y1, double x2, double y2) {
    add(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="#ddd"/>)"
        "\n",
        x1, y1, x2, y2);
  }
  void text(double at_x, double at_y, const char* anchor, const std::string& content,
            const char* more = "") {
    add(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}"{}>{}</text>)"
        "\n",
        at_x, at_y, anchor, more, escaped(content));
  }

  Extents extents_;
  std::string svg_;
};

// A grid of dots, two by four of them a character.
class Dots {
 public:
  Dots(int columns, int rows)
      : columns_(columns),
        rows_(rows),
        cells_(static_cast<std::size_t>(columns) * static_cast<std::size_t>(rows)) {}

  int width() const { return 2 * columns_; }
  int height() const { return 4 * rows_; }
  void set(int x, int y) {
    // The bits of Unicode's Braille patterns, of each of the two columns from the top.
    constexpr unsigned char bits[2][4] = {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}};
    cells_[static_cast<std::size_t>(y / 4 * columns_ + x / 2)] |= bits[x % 2][y % 4];
  }
  std::string row(int number) const {
    std::string text;
    for (int i = 0; i < columns_; i++) {
      const unsigned cell = cells_[static_cast<std::size_t>(number * columns_ + i)];
      // U+2800 and the bits, as UTF-8.
      text += {'\xE2', static_cast<char>(0xA0 | cell >> 6), static_cast<char>(0x80 | (cell & 63))};
    }
    return text;
  }

 private:
  int columns_, rows_;
  std::vector<unsigned char> cells_;
};

void draw(Dots& dots, const Curve& curve, const Extents& extents) {
  const auto place = [](double share, int size) {
    return static_cast<int>(std::lround(share * (size - 1)));
  };
  int last_x = -1, last_y = -1;
  for (const auto& point : curve.points) {
    if (!is_shown(point)) continue;
    const int x = place(extents.x.share(point.first), dots.width());
    const int y = place(1 - extents.y.share(point.second), dots.height());
    const int steps = last_x < 0 ? 1 : std::max({1, std::abs(x - last_x), std::abs(y - last_y)});
    for (int i = 1; i <= steps; i++) {
      const double way = static_cast<double>(i) / steps;
      dots.set(last_x < 0 ? x : static_cast<int>(std::lround(last_x + way * (x - last_x))),
               last_x < 0 ? y : static_cast<int>(std::lround(last_y + way * (y - last_y))));
    }
    last_x = x;
    last_y = y;
  }
}

}  // namespace

std::string svg_plot(std::span<const Curve> curves, const PlotLabels& labels) {
  SvgPlot plot(extents_of(curves));
  plot.begin(labels);
  plot.axes();
  for (std::size_t i = 0; i < curves.size(); i++) plot.curve(curves[i], i);
  return plot.end();
}

std::string text_plot(std::span<const Curve> curves, const PlotLabels& labels, int columns,
                      int rows) {
  const Extents extents = extents_of(curves);
  Dots dots(columns, rows);
  for (const Curve& curve : curves) draw(dots, curve, extents);
  std::string text = labels.title + "\n";
  for (int row = 0; row < rows; row++) {
    const double share = static_cast<double>(row) / std::max(rows - 1, 1);
    const double value = extents.y.to - share * (extents.y.to - extents.y.from);
    const bool is_marked = row == 0 || row == rows - 1 || row == rows / 2;
    const std::string mark = is_marked ? fmt::format("{:.4g}", value) : "";
    text += fmt::format("{:>9} \u2502{}\n", mark, dots.row(row));
  }
  const std::string from = fmt::format("{:.6g}", extents.x.from);
  const std::string to = fmt::format("{:.6g} {}", extents.x.to, labels.x);
  text += fmt::format(
      "{:>10}{}{:>{}}\n", "", from, to,
      std::max(columns + 1 - static_cast<int>(from.size()), static_cast<int>(to.size()) + 1));
  return text;
}

}  // namespace croze::logs
