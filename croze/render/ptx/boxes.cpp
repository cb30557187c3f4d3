#include "croze/render/ptx/boxes.h"

#include <algorithm>
#include <bit>

#include "croze/render/ptx/elementwise.h"
#include "croze/render/scratch.h"

namespace croze::ptx {

BoxCopies::BoxCopies(const LinearProgram& program, Text& text)
    : text_(text),
      boxed_(program.info.boxed),
      launch_(program.info.launch),
      barriers_(batch_barriers(program)) {}

std::vector<std::string> BoxCopies::parameters() const {
  std::vector<std::string> parameters;
  for (std::size_t i = 0; i < boxed_.size(); i++) {
    parameters.push_back(fmt::format(".param .align 64 .b8 map{}[128]", i));
    parameters.push_back(fmt::format(".param .s64 shift{}", i));
  }
  return parameters;
}

std::string BoxCopies::array() const {
  return fmt::format("  .shared .align 8 .b8 batches[{}];\n", barriers_ * bytes_of_batch_barrier);
}

void BoxCopies::begin() {
  for (std::size_t i = 0; i < boxed_.size(); i++) begin_map(i);
  std::string item = text_.fresh(DType::UInt32);
  text_.prologue("mov.u32 {}, %tid.x;", item);
  for (std::size_t axis : {1, 2}) {
    if (launch_.items[axis] == 1) continue;
    const std::string other = text_.fresh(DType::UInt32), both = text_.fresh(DType::UInt32);
    text_.prologue("mov.u32 {}, %tid.{};", other, "xyz"[axis]);
    text_.prologue("or.b32 {}, {}, {};", both, item, other);
    item = both;
  }
  is_first_ = text_.fresh(DType::Bool);
  text_.prologue("setp.eq.u32 {}, {}, 0;", is_first_, item);
  array_ = text_.fresh(DType::UInt64);
  text_.prologue("mov.u64 {}, batches;", array_);
  for (std::int64_t i = 0; i < barriers_; i++) {
    text_.prologue("@{} mbarrier.init.shared::cta.b64 [{}+{}], 1;", is_first_, array_,
                   i * bytes_of_batch_barrier);
  }
  text_.prologue("@{} fence.mbarrier_init.release.cluster;", is_first_);
  text_.prologue("bar.sync 0;");
  begun_ = text_.fresh(DType::UInt32);
  awaited_ = text_.fresh(DType::UInt32);
  for (const std::string& batches : {begun_, awaited_}) text_.prologue("mov.u32 {}, 0;", batches);
}

void BoxCopies::begin_map(std::size_t number) {
  const std::string address = text_.fresh(DType::UInt64), generic = text_.fresh(DType::UInt64),
                    wide = text_.fresh(DType::Int64), shift = text_.fresh(DType::Int32);
  text_.prologue("mov.u64 {}, map{};", address, number);
  text_.prologue("cvta.param.u64 {}, {};", generic, address);
  text_.prologue("ld.param.s64 {}, [shift{}];", wide, number);
  text_.prologue("cvt.s32.s64 {}, {};", shift, wide);
  maps_.push_back({generic, shift});
}

std::string BoxCopies::barrier_of(const std::string& batch) {
  const std::string number =
      text_.define(DType::UInt32, "and.b32", {batch, fmt::format("{}", barriers_ - 1)});
  return text_.define(DType::UInt64, "mad.wide.u32",
                      {number, fmt::format("{}", bytes_of_batch_barrier), array_});
}

void BoxCopies::copy(const BoxedBuffer& box, const Place& to,
                     std::span<const std::string> coordinates, DType coordinate) {
  const auto number = static_cast<std::size_t>(std::ranges::find(boxed_, box) - boxed_.begin());
  std::vector<std::string> at;
  for (const std::string& c : coordinates) {
    const std::string wide = c[0] == '%' ? c : copied(text_, coordinate, c);
    at.push_back(size_of(coordinate) == 8 ? text_.define(DType::Int32, "cvt.s32.s64", {wide})
                                          : wide);
  }
  at[0] = text_.define(DType::Int32, "add.s32", {at[0], maps_[number].shift});
  const std::string who = to.gate.empty()
                              ? is_first_
                              : text_.define(DType::Bool, "and.pred", {is_first_, to.gate}),
                    barrier = barrier_of(begun_);
  text_.line("@{} mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [{}], {};", who, barrier,
             bytes_of(box));
  text_.line(
      "@{} cp.async.bulk.tensor.{}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[{}+{}], [{}, {{{}}}], [{}];",
      who, at.size(), to.base, to.offset, maps_[number].address, fmt::join(at, ", "), barrier);
}

void BoxCopies::await(std::int64_t left) {
  text_.line("@{} mbarrier.arrive.shared::cta.b64 _, [{}];", is_first_, barrier_of(begun_));
  text_.line("add.u32 {}, {}, 1;", begun_, begun_);
  const std::string next = text_.fresh_label(), again = text_.fresh_label(),
                    done = text_.fresh_label();
  text_.label(next);
  const std::string end =
      text_.define(DType::UInt32, "add.u32", {awaited_, fmt::format("{}", left)});
  text_.line("@{} bra {};", text_.define(DType::Bool, "setp.ge.u32", {end, begun_}), done);
  const std::string barrier = barrier_of(awaited_),
                    turn = text_.define(
                        DType::UInt32, "shr.u32",
                        {awaited_, fmt::format("{}", std::countr_zero(
                                                         static_cast<std::uint64_t>(barriers_)))}),
                    is_odd = text_.define(DType::UInt32, "and.b32", {turn, "1"}),
                    has_come = text_.fresh(DType::Bool);
  text_.label(again);
  text_.line("mbarrier.try_wait.parity.shared::cta.b64 {}, [{}], {};", has_come, barrier, is_odd);
  text_.line("@!{} bra {};", has_come, again);
  text_.line("add.u32 {}, {}, 1;", awaited_, awaited_);
  text_.line("bra {};", next);
  text_.label(done);
}

}  // namespace croze::ptx
