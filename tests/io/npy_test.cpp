// NumPy files: what NumPy writes is read, what we write NumPy reads, and nothing else is believed.
// The bytes of good files are those that NumPy 1.24 wrote.
#include "croze/io/npy.h"

#include <sys/resource.h>

#include "croze/io/zip.h"
#include "croze/run/buffers.h"
#include "libfuzzer/memory_file.h"
#include "support/files.h"

namespace croze {
namespace {

using test::error_of;
using Numbers = std::vector<float>;

class Npy : public test::FilesTest {
 protected:
  // A file of version 1 with this header and these elements.
  static std::string array(std::string header, std::string_view elements) {
    header.resize((header.size() + 10 + 63) / 64 * 64 - 10, ' ');
    header.back() = '\n';
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    return bytes + header + std::string(elements);
  }
  static std::string floats(const Numbers& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * 4};
  }
  std::string load_error(const std::string& bytes) const {
    return test::error_if_any([&] { load_npy(file("a.npy", bytes)); });
  }
  std::string header_error(const std::string& header) const {
    return load_error(array(header, floats({1, 2})));
  }
};

#define EXPECT_HAS(text, part) EXPECT_NE((text).find(part), std::string::npos) << (text)

constexpr const char* two_floats = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";

// ---- good files -------------------------------------------------------------------------------

TEST_F(Npy, AnArrayIsRead) {
  const Tensor t = load_npy(file("a.npy", array(two_floats, floats({1.5, -2}))));
  EXPECT_EQ(t.shape(), Shape{2});
  EXPECT_EQ(t.dtype(), DType::Float32);
  EXPECT_EQ(t.to_vector<float>(), (Numbers{1.5, -2}));
}

TEST_F(Npy, AScalarAndAnEmptyArrayAreRead) {
  const std::string scalar = "{'descr': '<f4', 'fortran_order': False, 'shape': (), }";
  EXPECT_EQ(load_npy(file("s.npy", array(scalar, floats({7})))).item<float>(), 7);
  const std::string empty = "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }";
  EXPECT_EQ(load_npy(file("e.npy", array(empty, ""))).shape(), (Shape{0, 3}));
}

TEST_F(Npy, ColumnOrderIsTurned) {
  const std::string header = "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }";
  const Tensor t = load_npy(file("a.npy", array(header, floats({1, 4, 2, 5, 3, 6}))));
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_EQ(t.to_vector<float>(), (Numbers{1, 2, 3, 4, 5, 6}));
}

TEST_F(Npy, BigEndianIsTurned) {
  const std::string header = "{'descr': '>i2', 'fortran_order': False, 'shape': (2,), }";
  const Tensor t = load_npy(file("a.npy", array(header, std::string("\x01\x00\xff\xfe", 4))));
  EXPECT_EQ(t.dtype(), DType::Int16);
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{256, -2}));
}

TEST_F(Npy, ABoolIsZeroOrOneWhateverItsByte) {
  const std::string header = "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }";
  const Tensor t = load_npy(file("a.npy", array(header, std::string("\x00\x01\x07", 3))));
  EXPECT_EQ(t.dtype(), DType::Bool);
  EXPECT_EQ(t.to_vector<int>(), (std::vector<int>{0, 1, 1}));
}

TEST_F(Npy, TheFileIsNotCopied) {
  const std::int64_t count = 1 << 20;
  const std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (1048576,), }";
  const std::string path = file("a.npy", array(header, std::string(count * 4, '\0')));
  const std::int64_t before = memory_use().bytes;
  const Tensor t = load_npy(path);
  EXPECT_LT(memory_use().bytes - before, count);
}

TEST_F(Npy, EveryDtypeComesBack) {
  for (const DType dtype : {DType::Bool, DType::Int8, DType::UInt8, DType::Int16, DType::UInt16,
                            DType::Int32, DType::UInt32, DType::Int64, DType::UInt64,
                            DType::Float16, DType::Float32, DType::Float64}) {
    const Tensor t = Tensor::from_data({0, 1, 2, 3, 4, 5}, {2, 3}).cast(dtype);
    save_npy(path("a.npy"), t);
    const Tensor back = load_npy(path("a.npy"));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), (Shape{2, 3}));
    EXPECT_EQ(back.to_bytes(), t.to_bytes()) << name_of(dtype);
  }
}

TEST_F(Npy, WhatIsWrittenIsWhatNumPyWrites) {
  save_npy(path("a.npy"), Tensor::from_data(Numbers{1, 2}, {2}));
  EXPECT_EQ(content(path("a.npy")), array(two_floats, floats({1, 2})));
}

TEST_F(Npy, NumPyHasNoBFloat16) {
  const Tensor t = Tensor::zeros({2}, {.dtype = DType::BFloat16});
  EXPECT_HAS(error_of([&] { save_npy(path("a.npy"), t); }), "NumPy has no bfloat16");
  EXPECT_EQ(file_count(), 0);
}

// ---- bad files --------------------------------------------------------------------------------

TEST_F(Npy, OnlyArraysAreArrays) {
  EXPECT_HAS(load_error(""), "not a NumPy array");
  EXPECT_HAS(load_error("\x93NUMPX\x01 and more of this"), "not a NumPy array");
  EXPECT_HAS(load_error(std::string("\x93NUMPY\x09\x00\x10\x00", 10)), "version 9");
}

TEST_F(Npy, AHeaderCannotPromiseMoreThanTheFileHas) {
  // 4 GB from 12 bytes.
  EXPECT_HAS(load_error(std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
             "a header of 4294967295");
  EXPECT_HAS(load_error(std::string("\x93NUMPY\x02\x00\x00\x00\x08\x00", 12)),
             "wanted where 0 remain");
  EXPECT_HAS(load_error(std::string("\x93NUMPY\x01\x00\xff\xff", 10)), "wanted where 0 remain");
}

TEST_F(Npy, TheHeaderIsADictionaryOfThreeEntries) {
  EXPECT_EQ(header_error(two_floats), "");
  EXPECT_EQ(header_error("{\"shape\":(2),'fortran_order':False,'descr':'<f4'}"), "");
  EXPECT_HAS(header_error("2, 3"), "has no '{'");
  EXPECT_HAS(header_error("{}"), "lacks an entry");
  EXPECT_HAS(header_error("{'descr': '<f4', 'shape': (2,)}"), "lacks an entry");
  EXPECT_HAS(header_error("{'descr': '<f4', 'fortran_order': 1, 'shape': (2,)}"), "neither");
  EXPECT_HAS(header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}"), "no size");
  EXPECT_HAS(header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (2,"), "no size");
  EXPECT_HAS(header_error("{'descr': '<f4', 'fortran_order': False, 'shape': 2}"), "has no '('");
  EXPECT_HAS(header_error("{'descr': '<f4"), "does not end");
  EXPECT_HAS(header_error("{'descr': '<f4', 'more': 'x'}"), "unknown entry");
  EXPECT_HAS(header_error(std::string(two_floats) + " and more"), "behind its end");
  EXPECT_HAS(
      header_error("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"),
      "\"descr\" twice");
}

TEST_F(Npy, SizesMayNotWrap) {
  const auto with_shape = [&](const std::string& shape) {
    return header_error("{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + ")}");
  };
  EXPECT_HAS(with_shape("4611686018427387904, 4"), "does not fit 64 bits");
  EXPECT_HAS(with_shape("99999999999999999999"), "does not fit 64 bits");
  EXPECT_HAS(with_shape("1099511627776"), "but 8 are there");
  std::string many;
  for (int i = 0; i < 1000; i++) many += "1, ";
  EXPECT_HAS(with_shape(many), "more than 64 axes");
}

TEST_F(Npy, DataAreAsManyAsTheShapeSays) {
  EXPECT_HAS(load_error(array(two_floats, floats({1}))), "takes 8 bytes, but 4 are there");
  EXPECT_HAS(load_error(array(two_floats, floats({1, 2, 3}))), "but 12 are there");
}

TEST_F(Npy, DtypesThatTensorsLackAreRefused) {
  for (const char* code : {"<c8", "|O", "<U3", "|S5", "<M8[ns]", "|V4", "<f16", ""}) {
    const std::string header =
        std::string("{'descr': '") + code + "', 'fortran_order': False, 'shape': (2,), }";
    EXPECT_HAS(header_error(header), "no dtype") << code;
  }
}

// ---- archives ---------------------------------------------------------------------------------

class Npz : public Npy {
 protected:
  std::string saved() const {
    save_npz(path("a.npz"),
             {{"a", Tensor::from_data(Numbers{1, 2}, {2})}, {"b", Tensor::from_data({3}, {1, 1})}});
    return content(path("a.npz"));
  }
  std::string npz_error(const std::string& bytes) const {
    const test::MemoryFile bad(bytes);
    return test::error_if_any([&] { load_npz(bad.path()); });
  }
};

TEST_F(Npz, ArraysComeBackByName) {
  saved();
  const StateDict back = load_npz(path("a.npz"));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].name, "a");
  EXPECT_EQ(back[0].tensor.to_vector<float>(), (Numbers{1, 2}));
  EXPECT_EQ(back[1].tensor.shape(), (Shape{1, 1}));
}

// numpy.savez_compressed(.., a=numpy.array([1.5, -2], '<f4')), whose local header is of the zip64
// form.
TEST_F(Npz, WhatNumPyDeflatedIsRead) {
  // clang-format off
  const unsigned char bytes[] = {
    0x50,0x4b,0x03,0x04,0x2d,0x00,0x00,0x00,0x08,0x00,0x00,0x00,0x21,0x00,0xd6,0x43,0x4b,0x05,
    0xff,0xff,0xff,0xff,0xff,0xff,0xff,0xff,0x05,0x00,0x14,0x00,0x61,0x2e,0x6e,0x70,0x79,0x01,
    0x00,0x10,0x00,0x88,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x4b,0x00,0x00,0x00,0x00,0x00,0x00,
    0x00,0x9b,0xec,0x17,0xea,0x1b,0x10,0xc9,0xc8,0x50,0xc6,0x50,0xad,0x9e,0x92,0x5a,0x9c,0x5c,
    0xa4,0x6e,0xa5,0xa0,0x6e,0x93,0x66,0xa2,0xae,0xa3,0xa0,0x9e,0x96,0x5f,0x54,0x52,0x94,0x98,
    0x17,0x9f,0x5f,0x94,0x92,0x0a,0x12,0x77,0x4b,0xcc,0x29,0x4e,0x05,0x8a,0x17,0x67,0x24,0x16,
    0xa4,0x02,0xf9,0x1a,0x46,0x3a,0x9a,0x3a,0x0a,0xb5,0x0a,0x14,0x00,0x2e,0x06,0x86,0x03,0xf6,
    0x0c,0x40,0x02,0x00,0x50,0x4b,0x01,0x02,0x2d,0x03,0x2d,0x00,0x00,0x00,0x08,0x00,0x00,0x00,
    0x21,0x00,0xd6,0x43,0x4b,0x05,0x4b,0x00,0x00,0x00,0x88,0x00,0x00,0x00,0x05,0x00,0x00,0x00,
    0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x00,0x80,0x01,0x00,0x00,0x00,0x00,0x61,0x2e,0x6e,0x70,
    0x79,0x50,0x4b,0x05,0x06,0x00,0x00,0x00,0x00,0x01,0x00,0x01,0x00,0x33,0x00,0x00,0x00,0x82,
    0x00,0x00,0x00,0x00,0x00};
  // clang-format on
  const std::string archive(reinterpret_cast<const char*>(bytes), sizeof(bytes));
  const StateDict arrays = load_npz(file("a.npz", archive));
  ASSERT_EQ(arrays.size(), 1u);
  EXPECT_EQ(arrays[0].name, "a");
  EXPECT_EQ(arrays[0].tensor.to_vector<float>(), (Numbers{1.5, -2}));
}

TEST_F(Npz, EveryTruncationIsRefused) {
  const std::string whole = saved();
  for (std::size_t size = 0; size < whole.size(); size++) {
    EXPECT_NE(npz_error(whole.substr(0, size)), "") << size;
  }
}

TEST_F(Npz, EveryDamagedByteIsNoticedOrHarmless) {
  const std::string whole = saved();
  for (std::size_t at = 0; at < whole.size(); at++) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    npz_error(damaged);  // throws an Error or nothing
  }
  std::string damaged = whole;
  damaged[whole.find("NUMPY") + 122] ^= 1;  // an element
  EXPECT_HAS(npz_error(damaged), "is damaged");
}

// Records of the format, with the places of what is changed.
constexpr std::size_t central_packed = 20, central_size = 24, central_offset = 42,
                      central_flags = 8, central_method = 10;

TEST_F(Npz, TheDirectoryIsNotBelieved) {
  const std::string whole = saved();
  const std::size_t first = whole.find("PK\x01\x02"), second = whole.find("PK\x01\x02", first + 1);
  const auto changed = [&](std::size_t at, std::uint32_t value, int bytes) {
    std::string copy = whole;
    for (int i = 0; i < bytes; i++)
      copy[at + static_cast<std::size_t>(i)] = static_cast<char>(value >> (8 * i));
    return npz_error(copy);
  };
  EXPECT_HAS(changed(first + central_flags, 1, 2), "encrypted");
  EXPECT_HAS(changed(first + central_method, 14, 2), "method 14");
  EXPECT_HAS(changed(first + central_size, 1 << 20, 4), "two sizes");
  EXPECT_HAS(changed(first + central_packed, 0x7fffffff, 4), "two sizes");
  EXPECT_HAS(changed(first + central_offset, 0x7fffffff, 4), "outside");
  // Both entries name the same bytes: a bomb that unpacks one file many times.
  std::string twice = whole;
  twice.replace(second + central_packed, 8, whole, first + central_packed, 8);
  twice.replace(second + central_offset, 4, whole, first + central_offset, 4);
  EXPECT_HAS(npz_error(twice), "overlap");
  std::string same_name = whole;
  same_name[whole.find("b.npy", second)] = 'a';
  EXPECT_HAS(npz_error(same_name), "stands twice");
}

TEST_F(Npz, ADeflatedFileMayNotPromiseMoreThanDeflateCan) {
  std::string whole = saved();
  const std::size_t first = whole.find("PK\x01\x02");
  whole[first + central_method] = 8;
  for (int i = 0; i < 4; i++) whole[first + central_size + static_cast<std::size_t>(i)] = '\x70';
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_HAS(npz_error(whole), "cannot unpack to");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
}

// 1 MB that claims to unpack to as much as deflate could make of it, and does not.
TEST_F(Npz, WhatAnArchiveClaimsIsNotAllocated) {
  std::string whole = saved();
  const std::size_t first = whole.find("PK\x01\x02");
  const std::string stored_data(1 << 20, '\0');  // deflate: an empty block that is not compressed
  const std::size_t data = whole.find("\x93NUMPY");
  const auto put = [&](std::size_t at, std::size_t value) {
    for (std::size_t i = 0; i < 4; i++) whole[at + i] = static_cast<char>(value >> (8 * i));
  };
  put(first + central_packed, stored_data.size());
  put(first + central_size, stored_data.size() * 1000);
  whole[first + central_method] = 8;
  // The second entry and the directory move back behind the longer first one.
  const std::size_t second = whole.find("PK\x03\x04", data),
                    grown = stored_data.size() - (second - data);
  put(whole.find("PK\x01\x02", first + 1) + central_offset, second + grown);
  put(whole.find("PK\x05\x06") + 16, first + grown);
  whole.replace(data, second - data, stored_data);
  rusage before{}, after{};
  getrusage(RUSAGE_SELF, &before);
  EXPECT_HAS(npz_error(whole), "is damaged");
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);
}

}  // namespace
}  // namespace croze
