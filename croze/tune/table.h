// table.h -- what searches have found, kept in a text file.
//
// A line says of which machine and compiler it holds, of which kernel, how fast the edits and the
// model's choice were, and the edits.  Files may be joined (cat): of several lines for one kernel
// the one that gains most counts.  A line is advice: edits change no result, so a file may come
// from anybody, and what cannot be read is passed over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace croze::tune {

struct TunedKernel {
  std::string edits;  // as text (codegen/edits/edit.h)
  double seconds = 0, model_seconds = 0;

  double gain() const { return seconds > 0 ? model_seconds / seconds : 0; }
};

class TunedTable {
 public:
  // Of the lines in the file those of `machine`: device, processor, threads and compiler.  A file
  // that is not there is empty; an empty path keeps what is added in memory alone.
  TunedTable(std::string path, std::string_view machine);

  const TunedKernel* find(const std::string& kernel) const;
  bool empty() const { return kernels_.empty(); }

  // Adds a line to the table and to the file.  False if the file cannot be written.
  bool add(const std::string& kernel, const TunedKernel& tuned);

 private:
  void read(std::string_view text);
  void keep(std::string kernel, TunedKernel tuned);

  std::string path_, machine_;
  std::unordered_map<std::string, TunedKernel> kernels_;
};

}  // namespace croze::tune
