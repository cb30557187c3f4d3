// least_device.cpp -- the device suite, for a device of Vulkan that has no more than it must: small
// integers packed in words, 64 bits by words, memory that the host does not see.
#include "croze/backends/vulkan/vulkan_device.h"
#include "support/device_suite.h"

namespace croze::test {
namespace {

using namespace vulkan;

const Library& full() {
  static const std::unique_ptr<Library> library = Library::load();
  return *library;
}

void fewer_features(PhysicalDevice device, Features2* features) {
  full().features(device, features);
  features->int64 = features->float64 = 0;
  auto* const of_1_1 = static_cast<Vulkan11Features*>(features->next);
  of_1_1->storage_16_bits = 0;
  auto* const of_1_2 = static_cast<Vulkan12Features*>(of_1_1->next);
  of_1_2->storage_8_bits = of_1_2->float16 = 0;
}

void slower_memory(PhysicalDevice device, MemoryProperties* properties) {
  full().memory_properties(device, properties);
  for (MemoryType& type : properties->types) type.flags &= ~memory_is_cached;
}

}  // namespace

Device* device_under_test() {
  static const Drivers& drivers = *new Drivers([] {
    std::unique_ptr<Library> library = Library::load();
    if (library) {
      library->features = fewer_features;
      library->memory_properties = slower_memory;
    }
    return look_for_drivers(std::move(library));
  }());
  static const std::unique_ptr<Device> device = make_device(drivers, 0);
  return device.get();
}

}  // namespace croze::test
