// codes.h -- the numbers of SPIR-V that the renderer writes, by the names of the specification.
#pragma once

#include <cstdint>

namespace croze::spirv {

inline constexpr std::uint32_t magic = 0x07230203;
inline constexpr std::uint32_t version_1_5 = 0x00010500;

enum class Code : std::uint16_t {
  Extension = 10,
  ExtInstImport = 11,
  ExtInst = 12,
  MemoryModel = 14,
  EntryPoint = 15,
  ExecutionMode = 16,
  Capability = 17,
  TypeVoid = 19,
  TypeBool = 20,
  TypeInt = 21,
  TypeFloat = 22,
  TypeVector = 23,
  TypeArray = 28,
  TypeRuntimeArray = 29,
  TypeStruct = 30,
  TypePointer = 32,
  TypeFunction = 33,
  ConstantTrue = 41,
  ConstantFalse = 42,
  Constant = 43,
  ConstantComposite = 44,
  Function = 54,
  FunctionEnd = 56,
  Variable = 59,
  Load = 61,
  Store = 62,
  AccessChain = 65,
  Decorate = 71,
  MemberDecorate = 72,
  CompositeConstruct = 80,
  CompositeExtract = 81,
  ConvertFToU = 109,
  ConvertFToS = 110,
  ConvertSToF = 111,
  ConvertUToF = 112,
  UConvert = 113,
  SConvert = 114,
  FConvert = 115,
  Bitcast = 124,
  SNegate = 126,
  FNegate = 127,
  IAdd = 128,
  FAdd = 129,
  ISub = 130,
  FSub = 131,
  IMul = 132,
  FMul = 133,
  UDiv = 134,
  SDiv = 135,
  FDiv = 136,
  UMod = 137,
  SRem = 138,
  LogicalEqual = 164,
  LogicalNotEqual = 165,
  LogicalOr = 166,
  LogicalAnd = 167,
  LogicalNot = 168,
  Select = 169,
  IEqual = 170,
  INotEqual = 171,
  UGreaterThanEqual = 174,
  ULessThan = 176,
  SLessThan = 177,
  ULessThanEqual = 178,
  SLessThanEqual = 179,
  FOrdEqual = 180,
  FUnordNotEqual = 183,
  FOrdLessThan = 184,
  FOrdGreaterThan = 186,
  FOrdLessThanEqual = 188,
  FOrdGreaterThanEqual = 190,
  ShiftRightLogical = 194,
  ShiftRightArithmetic = 195,
  ShiftLeftLogical = 196,
  BitwiseOr = 197,
  BitwiseXor = 198,
  BitwiseAnd = 199,
  Not = 200,
  BitFieldSExtract = 202,
  BitFieldUExtract = 203,
  ControlBarrier = 224,
  AtomicLoad = 227,
  AtomicXor = 242,
  Phi = 245,
  LoopMerge = 246,
  SelectionMerge = 247,
  Label = 248,
  Branch = 249,
  BranchConditional = 250,
  Return = 253,
  GroupNonUniformBallot = 339,
  GroupNonUniformShuffleXor = 346,
  TypeCooperativeMatrix = 4456,
  CooperativeMatrixLoad = 4457,
  CooperativeMatrixStore = 4458,
  CooperativeMatrixMulAdd = 4459,
};

// Instructions of the set GLSL.std.450.
enum class Extended : std::uint32_t {
  None = 0,
  Trunc = 3,
  Sqrt = 31,
  UMin = 38,
  SMin = 39,
  UMax = 41,
  SMax = 42,
};

enum class Capability : std::uint32_t {
  Shader = 1,
  Float16 = 9,
  Float64 = 10,
  Int64 = 11,
  Int16 = 22,
  Int8 = 39,
  GroupNonUniform = 61,
  GroupNonUniformBallot = 64,
  GroupNonUniformShuffle = 65,
  StorageBuffer16BitAccess = 4433,
  StorageBuffer8BitAccess = 4448,
  DenormPreserve = 4464,
  SignedZeroInfNanPreserve = 4466,
  RoundingModeRTE = 4467,
  BFloat16Type = 5116,
  BFloat16CooperativeMatrix = 5118,
  VulkanMemoryModel = 5345,
  PhysicalStorageBufferAddresses = 5347,
  CooperativeMatrix = 6022,
};

enum class ExecutionMode : std::uint32_t {
  LocalSize = 17,
  DenormPreserve = 4459,
  SignedZeroInfNanPreserve = 4461,
  RoundingModeRTE = 4462,
};

enum class StorageClass : std::uint32_t {
  Input = 1,
  Workgroup = 4,
  Function = 7,
  PushConstant = 9,
  PhysicalStorageBuffer = 5349,
};

enum class Decoration : std::uint32_t {
  Block = 2,
  ArrayStride = 6,
  BuiltIn = 11,
  Offset = 35,
  NoContraction = 42,
};

enum class BuiltIn : std::uint32_t { NumWorkgroups = 24, WorkgroupId = 26, LocalInvocationId = 27 };

inline constexpr std::uint32_t memory_model_glsl450 = 1, memory_model_vulkan = 3;
inline constexpr std::uint32_t addresses_of_64_bits = 5348;  // PhysicalStorageBuffer64
inline constexpr std::uint32_t execution_model_compute = 5;  // GLCompute
inline constexpr std::uint32_t memory_aligned = 2;           // memory operands
inline constexpr std::uint32_t memory_not_private = 0x20;
inline constexpr std::uint32_t scope_device = 1, scope_workgroup = 2, scope_subgroup = 3;
inline constexpr std::uint32_t acquire_release_of_group_memory = 0x8 | 0x100;
inline constexpr std::uint32_t make_available_and_visible = 0x2000 | 0x4000;

// Of cooperative matrices.
enum class MatrixUse : std::uint32_t { A = 0, B = 1, Sums = 2 };
inline constexpr std::uint32_t row_after_row = 0;  // RowMajorKHR
inline constexpr std::uint32_t a_has_sign = 1, b_has_sign = 2, sums_have_sign = 4 | 8;
inline constexpr std::uint32_t encoding_bfloat16 = 0;  // of a float type

}  // namespace croze::spirv
