// player.h -- runs a model for browsers on the library of WebGPU that is here, as its module does
// in a page.
#pragma once

#include <string>
#include <vector>

#include "croze/backends/webgpu/webgpu_context.h"
#include "croze/export/webgpu/model.h"
#include "croze/tensor/tensor.h"

namespace croze::test {

class Player {
 public:
  // Whether there is such a library, and a device of it.
  static bool is_possible();

  explicit Player(const web::WebModel& model);
  ~Player();
  Player(const Player&) = delete;
  Player& operator=(const Player&) = delete;

  // The bytes of each result, at the greatest sizes.
  std::vector<std::string> run(const std::vector<Tensor>& inputs);

 private:
  void write(web::Placed at, std::string bytes);
  std::string read(web::Placed at, std::int64_t bytes);
  void copy(const std::vector<exporting::Copy>& copies);
  void dispatch(const web::Dispatch& dispatch);

  const web::WebModel& model_;
  std::vector<webgpu::Buffer> memories_;
  std::vector<webgpu::Pipeline> pipelines_;
};

}  // namespace croze::test
