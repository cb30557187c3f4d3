// training_files.cpp -- the files of a training.
#include "training_files.h"

#include <croze/base/error.h>
#include <croze/base/file.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace croze::tool {
namespace {

void write_text(const std::string& path, std::string_view text) {
  FileWriter writer(path);
  writer.write(text);
  writer.commit();
}

}  // namespace

TrainingFiles::TrainingFiles(const std::string& folder, bool resumes) : folder_(folder) {
  const bool has_checkpoint = std::filesystem::exists(checkpoint());
  check(has_checkpoint || !resumes, "--resume: there is no {}", checkpoint());
  check(resumes || !has_checkpoint,
        "there is a {}: --resume goes on from it, --out names another folder", checkpoint());
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  check(!error, "--out {}: {}", folder, error.message());
  for (const std::string& path : {model(), checkpoint(), losses(), picture()}) {
    const FileWriter probe(path);
  }
}

void TrainingFiles::write_losses(const llm::TrainingHistory& history,
                                 double bytes_per_token) const {
  write_text(losses(), to_text(history));
  write_text(picture(), logs::svg_plot(loss_curves(history, bytes_per_token), loss_labels));
}

std::vector<logs::Curve> loss_curves(const llm::TrainingHistory& history, double bytes_per_token) {
  logs::Curve training{"training", {}}, validation{"validation", {}};
  const std::size_t averaged = std::max<std::size_t>(history.size() / 200, 1);
  for (std::size_t i = 0; i < history.size(); i += averaged) {
    const std::size_t end = std::min(i + averaged, history.size());
    double sum = 0;
    for (std::size_t k = i; k < end; k++) sum += static_cast<double>(history[k].loss);
    training.points.emplace_back(end, sum / static_cast<double>(end - i) / bytes_per_token);
  }
  for (std::size_t i = 0; i < history.size(); i++) {
    if (history[i].validation) validation.points.emplace_back(i + 1, *history[i].validation);
  }
  return {training, validation};
}

}  // namespace croze::tool
