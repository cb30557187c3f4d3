// image_reads.cpp -- which buffers a kernel only reads, by whole pixels, and more than once.
//
// Images have a cache of their own, that of textures, through which GPUs of phones read much faster
// than from buffers.  It is worth it where an element is read several times in a launch, and it is
// possible where nobody writes the buffer: that cache does not see what is written meanwhile.
#include "croze/codegen/image_reads.h"

#include <algorithm>
#include <bit>

#include "croze/render/lane_form.h"

namespace croze {
namespace {

constexpr std::int64_t pixel_elements = 4, most_lanes = 16;

bool has_image_format(DType t) { return size_of(t) <= 4; }

// What languages with images have vectors for, and then write the whole program in them.
bool are_lanes_of_vectors(const LinearProgram& program) {
  return !program.lanes.empty() && std::ranges::all_of(program.lanes, [](UOp lane) {
    const std::int64_t lanes = lane.range_size();
    return 1 < lanes && lanes <= most_lanes &&
           std::has_single_bit(static_cast<std::uint64_t>(lanes));
  });
}

class ImageReads {
 public:
  ImageReads(const LinearProgram& program, const Caps& caps)
      : program_(program), caps_(caps), forms_(program) {
    // Axes whose length differs from launch to launch count once.
    for (int axis = 0; axis < 3; axis++) {
      const LaunchSize& groups = program.info.launch.groups[axis];
      turns_ *= static_cast<double>(program.info.launch.items[axis]);
      if (groups.is_constant()) turns_ *= static_cast<double>(groups.value({}));
    }
  }

  std::vector<ImageBuffer> run() {
    for (UOp u : program_.instructions) read(u);
    std::vector<ImageBuffer> images;
    for (const Candidate& c : candidates_) {
      const bool pays = c.elements_read > static_cast<double>(c.param.buffer_elements());
      if (c.is_possible && pays) images.push_back({c.param.slot(), size_of(c.param.dtype())});
    }
    std::ranges::sort(images, {}, &ImageBuffer::slot);
    return images;
  }

 private:
  struct Candidate {
    UOp param;
    bool is_possible = true;
    double elements_read = 0;  // in a launch, each as often as it is read
  };

  void read(UOp u) {
    switch (u.op()) {
      case Op::Loop: turns_ *= turns_of(u.src(0)); break;
      case Op::EndLoop: turns_ /= turns_of(u.src(0)); break;
      case Op::Param: add(u); break;
      case Op::Load: load(u); break;
      default:
        for (UOp s : u.sources()) refuse(s);
    }
  }

  static double turns_of(UOp range) {
    return static_cast<double>(std::max<std::int64_t>(1, range.range_size()));
  }

  // A buffer that is seen under two types is not one image.
  void add(UOp param) {
    bool is_possible = param.num_src() == 0 && has_image_format(param.dtype()) &&
                       param.buffer_elements() <= pixel_elements * caps_.image_vectors;
    for (Candidate& c : candidates_) {
      if (c.param == param) return;
      if (c.param.slot() == param.slot()) c.is_possible = is_possible = false;
    }
    candidates_.push_back({param, is_possible});
  }

  void load(UOp u) {
    const UOp place = u.src(0);
    Candidate* c = place.is(Op::Index) ? candidate(buffer_of(place)) : nullptr;
    if (!c) return;
    c->is_possible = c->is_possible && is_of_pixels(place);
    c->elements_read += turns_ * static_cast<double>(forms_.of(place).lanes);
  }

  bool is_of_pixels(UOp place) const {
    const LaneForm at = forms_.of(place.src(1));
    return at.affine && at.step == 1 && at.lanes % pixel_elements == 0 &&
           multiple_in_first_lane(place.src(1)) % pixel_elements == 0 &&
           (place.num_src() < 3 || forms_.of(place.src(2)).is_uniform());
  }

  // What is done to a place beside loading it no image does.
  void refuse(UOp place) {
    if (!place.is(Op::Index) && !place.is(Op::After)) return;
    if (Candidate* c = candidate(buffer_of(place))) c->is_possible = false;
  }

  Candidate* candidate(UOp buffer) {
    const auto found = std::ranges::find(candidates_, buffer, &Candidate::param);
    return found == candidates_.end() ? nullptr : &*found;
  }

  const LinearProgram& program_;
  const Caps& caps_;
  LaneForms forms_;
  double turns_ = 1;  // of all items, up to the instruction at hand
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<ImageBuffer> images_to_read(const LinearProgram& program, const Caps& caps) {
  if (!are_lanes_of_vectors(program)) return {};
  return ImageReads(program, caps).run();
}

}  // namespace croze
