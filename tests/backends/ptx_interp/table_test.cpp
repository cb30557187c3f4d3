// table_test.cpp -- a kind of device that the program brings along, in the table of devices.
#include <gtest/gtest.h>

#include <algorithm>

#include "croze/base/error.h"
#include "croze/base/options.h"
#include "support/errors.h"
#include "support/ptx_interp_kind.h"

namespace croze::test {
namespace {

TEST(BroughtKind, IsFoundByNameAndOrdinal) {
  know_ptx_interp();
  const int index = device_index("ptx_interp:3");
  EXPECT_EQ(device_name(index), "PTX_INTERP:3");
  EXPECT_EQ(device(index).name(), "PTX_INTERP:3");
  EXPECT_EQ(device_index("PTX_INTERP:0"), device_index("PTX_INTERP"));
  EXPECT_TRUE(has_siblings(index));
  EXPECT_NE(message_of([] { device_index("PTX"); }).find("WEBGPU, PTX_INTERP"), std::string::npos);
}

TEST(BroughtKind, IsListedAndMayBeTheDefault) {
  know_ptx_interp();
  const std::vector<DeviceEntry> all = list_devices();
  EXPECT_EQ(all.back().name, "PTX_INTERP");
  EXPECT_TRUE(all.back().available);
  EXPECT_EQ(all.back().last_ordinal, 15);
  const Options::Scope scope{{Option::Device, "PTX_INTERP:1"}};
  EXPECT_EQ(default_device(), device_index("PTX_INTERP:1"));
}

TEST(BroughtKind, IsOneAndNewToTheTable) {
  know_ptx_interp();
  EXPECT_THROW(add_device_kind("OTHER", make_ptx_interp_device), InternalError);
  EXPECT_THROW(add_device_kind("CPU", make_ptx_interp_device), InternalError);
}

}  // namespace
}  // namespace croze::test
