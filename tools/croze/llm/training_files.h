// training_files.h -- what a training of a language model leaves in its folder.
#pragma once

#include <croze/llm/train/gpt_training.h>
#include <croze/log/plot.h>

#include <string>
#include <vector>

namespace croze::tool {

// model.gguf, checkpoint.safetensors, losses.tsv and loss.svg.
class TrainingFiles {
 public:
  // Makes the folder if need be, and sees to it that all of them can be written, so that nobody
  // trains for nothing.  Throws Error if they cannot, or unless there is a checkpoint if and only
  // if the training is to go on from it.
  TrainingFiles(const std::string& folder, bool resumes);

  const std::string& folder() const { return folder_; }
  std::string model() const { return folder_ + "/model.gguf"; }
  std::string checkpoint() const { return folder_ + "/checkpoint.safetensors"; }
  void write_losses(const llm::TrainingHistory& history, double bytes_per_token) const;

 private:
  std::string losses() const { return folder_ + "/losses.tsv"; }
  std::string picture() const { return folder_ + "/loss.svg"; }

  std::string folder_;
};

// Loss of training, averaged over neighbouring steps, and of validation, over steps, in nats a
// byte.
std::vector<logs::Curve> loss_curves(const llm::TrainingHistory& history, double bytes_per_token);
inline const logs::PlotLabels loss_labels{"Loss", "steps", "nats a byte"};

}  // namespace croze::tool
