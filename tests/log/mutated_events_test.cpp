// Event files that are almost right are read or refused, soon and in little memory.
#include <gtest/gtest.h>

#include <ctime>

#include "croze/base/bytes.h"
#include "croze/base/error.h"
#include "croze/log/event.h"
#include "croze/log/record_frame.h"
#include "support/mutator.h"

namespace croze::logs {
namespace {

// The records of a file without their frames, whose checksums would refuse every change.
std::vector<std::string> records_of(const std::string& file) {
  std::vector<std::string> records;
  std::span<const std::byte> rest = std::as_bytes(std::span(file));
  while (!rest.empty()) {
    const auto size = static_cast<std::size_t>(frame_size(rest, "seed"));
    records.emplace_back(as_text(record_in(rest.first(size), "seed")));
    rest = rest.subspan(size);
  }
  return records;
}

std::size_t memory_of(const std::vector<Event>& events) {
  std::size_t all = 0;
  for (const Event& e : events) {
    all += sizeof(e) + e.tag.size();
    if (const auto* h = std::get_if<Histogram>(&e.value)) all += 16 * h->limits.size();
    if (const auto* p = std::get_if<Picture>(&e.value)) all += p->png.size();
    if (const auto* text = std::get_if<std::string>(&e.value)) all += text->size();
  }
  return all;
}

bool is_read(const std::string& file) {
  const std::clock_t begin = std::clock();
  std::vector<Event> events;
  bool result = true;
  try {
    read_events(std::as_bytes(std::span(file)), "mutant", events);
  } catch (const Error&) {
    result = false;
  }
  EXPECT_LE(memory_of(events), 128 * file.size() + 4096);
  EXPECT_LT(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, 1);
  return result;
}

TEST(MutatedEvents, AreReadOrRefused) {
  test::for_each_mutant(test::good_files(CORPUS "/events"), is_read);
}

TEST(MutatedEvents, InRightFramesAreReadOrRefused) {
  std::vector<std::string> records;
  for (const std::string& file : test::good_files(CORPUS "/events")) {
    for (std::string& record : records_of(file)) records.push_back(std::move(record));
  }
  test::for_each_mutant(records, [](const std::string& record) {
    std::string file;
    append_record(file, record);
    return is_read(file);
  });
}

}  // namespace
}  // namespace croze::logs
