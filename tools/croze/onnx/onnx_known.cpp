// onnx_known.cpp -- the table of known differences.
#include "onnx_known.h"

#include <algorithm>

namespace croze::tool {
namespace {

constexpr std::string_view truncates =
    "The recording cuts off the bits that bfloat16 lacks; croze rounds to nearest, halves to even, "
    "as onnxruntime does.";
constexpr std::string_view epsilon =
    "The recording was made with an epsilon of 0.01, which the node does not have; the default is "
    "1e-6.";
constexpr std::string_view hanging =
    "The recording divides a window that hangs over the end by its full size; the padding that "
    "counts ends where the padded input does.  ONNX 1.18 corrected the recording.";
constexpr std::string_view noise =
    "Elements that are 0 hold the rounding errors of NumPy's transform in the recording, about "
    "2e-7, twice the absolute tolerance; croze gives 3e-15.";
constexpr std::string_view wraps =
    "The recording lets results below -128 wrap around; the operator is defined to saturate.";
constexpr std::string_view corners =
    "The recording divides by scale * size - 1, which is no integer here, so the corners are not "
    "aligned; croze divides by the length of the output less 1, as the operator's definition and "
    "onnxruntime do.";

constexpr std::string_view softcap_first =
    "The recording adds the mask before the softcap, and numbers what it shows by that order.  "
    "ONNX "
    "corrected the operator in place: the softcap comes first, as in croze and onnxruntime.";
constexpr std::string_view no_length =
    "The recording divides 0 by a length of 0.  ONNX corrected the operator: the result is 0.";

constexpr KnownDifference table[] = {
    {"test_adam_multiple", epsilon},
    {"test_attention_3d_with_past_and_present_qk_matmul_bias", softcap_first, false},
    {"test_attention_3d_with_past_and_present_qk_matmul_softcap", softcap_first, false},
    {"test_attention_4d_with_past_and_present_qk_matmul_bias", softcap_first, false},
    {"test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask", softcap_first, false},
    {"test_attention_4d_with_past_and_present_qk_matmul_bias_3d_mask_causal", softcap_first, false},
    {"test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask", softcap_first, false},
    {"test_attention_4d_with_past_and_present_qk_matmul_bias_4d_mask_causal", softcap_first, false},
    {"test_attention_4d_with_qk_matmul_bias", softcap_first, false},
    {"test_attention_4d_with_qk_matmul_softcap", softcap_first, false},
    {"test_averagepool_3d_dilations_large_count_include_pad_is_1_ceil_mode_is_True", hanging, true,
     false},
    {"test_cast_FLOAT_to_BFLOAT16", truncates, true, false},
    {"test_castlike_FLOAT_to_BFLOAT16", truncates, true, false},
    {"test_castlike_FLOAT_to_BFLOAT16_expanded", truncates, true, false},
    {"test_dft_inverse", noise},
    {"test_dft_inverse_opset19", noise},
    {"test_l2normalization_axis_0", no_length, false},
    {"test_qlinearmatmul_2D_int8_float16", wraps},
    {"test_qlinearmatmul_2D_int8_float32", wraps},
    {"test_qlinearmatmul_3D_int8_float16", wraps},
    {"test_qlinearmatmul_3D_int8_float32", wraps},
    {"test_resize_downsample_scales_cubic_align_corners", corners},
    {"test_resize_downsample_scales_linear_align_corners", corners},
};

}  // namespace

std::span<const KnownDifference> known_differences() { return table; }

std::string_view known_reason(std::string_view group, std::string_view test) {
  const auto* row = std::ranges::find(table, test, &KnownDifference::test);
  return group == "node" && row != std::end(table) ? row->reason : std::string_view();
}

}  // namespace croze::tool
