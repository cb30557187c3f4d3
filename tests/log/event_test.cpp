// Event files: frames, messages, histograms, and a file that TensorBoard has written.
#include "croze/log/event.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "croze/log/event_file.h"
#include "croze/log/record_frame.h"
#include "support/files.h"

namespace croze::logs {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

TEST(Crc32c, HasTheValuesOfRfc3720) {
  EXPECT_EQ(crc32c(bytes_of("123456789")), 0xe3069283U);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\0'))), 0x8a9136aaU);
  EXPECT_EQ(crc32c(bytes_of(std::string(32, '\xff'))), 0x62a8ab43U);
}

TEST(Histograms, CountWhatIsBetweenTheirLimits) {
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0.3, 2);
  std::vector<double> values = {0, -0.0, 1e-30, -1e-30, 1e30, -1e30, 1e-12};
  for (int i = 0; i < 500; i++) values.push_back(normal(random));
  const Histogram h = histogram_of(values);
  ASSERT_EQ(h.limits.size(), h.counts.size());
  EXPECT_EQ(h.count, 507);
  EXPECT_EQ(h.least, -1e30);
  EXPECT_EQ(h.most, 1e30);
  for (std::size_t i = 1; i < h.counts.size(); i++) {
    const auto inside = std::ranges::count_if(
        values, [&](double v) { return h.limits[i - 1] <= v && v < h.limits[i]; });
    EXPECT_EQ(h.counts[i], static_cast<double>(inside)) << h.limits[i - 1] << " " << h.limits[i];
  }
  EXPECT_EQ(h.counts[0], 0);
  EXPECT_GT(h.counts.back(), 0);
}

TEST(Histograms, OfNothingAndOfWhatIsNotFinite) {
  EXPECT_EQ(histogram_of({}).count, 0);
  const std::vector<double> values = {NAN, INFINITY, -INFINITY};
  EXPECT_EQ(histogram_of(values).count, 0);
  EXPECT_TRUE(histogram_of(values).limits.empty());
  const std::vector<double> largest = {std::numeric_limits<double>::max()};
  EXPECT_EQ(histogram_of(largest).counts.back(), 1);
}

// The file that tests/golden/make_events.py wrote with TensorBoard's own code.
class WrittenByTensorBoard : public testing::Test {
 protected:
  std::string file_ = CORPUS "/events/tensorboard.tfevents";
  std::string bytes_ = test::content_of(file_);
};

TEST_F(WrittenByTensorBoard, IsRead) {
  std::vector<Event> events;
  EXPECT_EQ(read_events(bytes_of(bytes_), file_, events), std::ssize(bytes_));
  ASSERT_EQ(events.size(), 7U);
  for (int i = 0; i < 3; i++) {
    const Event& e = events[static_cast<std::size_t>(i)];
    EXPECT_EQ(e.tag, "loss");
    EXPECT_EQ(e.step, 10 * i);
    EXPECT_EQ(e.time, 1700000000.5 + i);
    EXPECT_EQ(std::get<double>(e.value), 2.0 - 0.5 * i);
  }
  const auto& histogram = std::get<Histogram>(events[3].value);
  EXPECT_EQ(histogram.limits, (std::vector<double>{-1, 0, 1}));
  EXPECT_EQ(histogram.counts, (std::vector<double>{0, 2, 3}));
  EXPECT_EQ(histogram.count, 5);
  const auto& picture = std::get<Picture>(events[4].value);
  EXPECT_EQ(picture.width, 2);
  EXPECT_EQ(picture.height, 1);
  EXPECT_TRUE(picture.png.starts_with("\x89PNG"));
  EXPECT_EQ(std::get<std::string>(events[5].value), "größer");
  EXPECT_EQ(events[6].tag, "second of a summary");
  EXPECT_EQ(events[6].step, -1);
}

TEST_F(WrittenByTensorBoard, AndCutAnywhereIsReadAsFarAsItIsWhole) {
  std::vector<Event> whole;
  read_events(bytes_of(bytes_), file_, whole);
  for (std::size_t size = 0; size < bytes_.size(); size++) {
    std::vector<Event> events;
    const std::int64_t read = read_events(bytes_of(bytes_).first(size), file_, events);
    EXPECT_LE(read, static_cast<std::int64_t>(size));
    EXPECT_LT(events.size(), whole.size());
    // The rest, once it is there.
    read_events(bytes_of(bytes_).subspan(static_cast<std::size_t>(read)), file_, events);
    EXPECT_EQ(events.size(), whole.size());
  }
}

TEST_F(WrittenByTensorBoard, AndDamagedIsRefused) {
  for (std::size_t i = 0; i < bytes_.size(); i++) {
    std::string damaged = bytes_;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    std::vector<Event> events;
    const std::string error =
        test::error_of([&] { read_events(bytes_of(damaged), "run.tfevents", events); });
    EXPECT_NE(error.find("run.tfevents is damaged"), std::string::npos) << error;
  }
}

TEST(Events, AreReadAsTheyWereWritten) {
  std::string file;
  append_file_head(file, 5);
  append_event(file, {1.5, -3, "a", 0.25});
  append_event(file, {2.5, std::int64_t{1} << 60, "b", Histogram{-1, 2, 3, 4, 5, {0, 1}, {0, 3}}});
  append_event(file, {3.5, 0, "c", Picture{1, 2, 3, std::string("\0png", 4)}});
  append_event(file, {4.5, 1, std::string(300, 'd'), std::string("text")});
  std::vector<Event> events;
  EXPECT_EQ(read_events(bytes_of(file), "file", events), std::ssize(file));
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].time, 1.5);
  EXPECT_EQ(events[0].step, -3);
  EXPECT_EQ(std::get<double>(events[0].value), 0.25);
  EXPECT_EQ(events[1].step, std::int64_t{1} << 60);
  EXPECT_EQ(std::get<Histogram>(events[1].value).counts, (std::vector<double>{0, 3}));
  EXPECT_EQ(std::get<Picture>(events[2].value).png.size(), 4U);
  EXPECT_EQ(events[3].tag, std::string(300, 'd'));
  EXPECT_EQ(std::get<std::string>(events[3].value), "text");
}

class GrowingFile : public test::FilesTest {};

TEST_F(GrowingFile, IsReadPieceByPiece) {
  std::string all;
  append_file_head(all, 0);
  for (int i = 0; i < 20; i++) {
    append_event(all, {0, i, "text", std::string(static_cast<std::size_t>(i * 50), 'x')});
  }
  const std::string path = file("a.tfevents", "");
  EventFile events(path);
  std::vector<Event> read;
  for (std::size_t size = 0; size <= all.size(); size += 7) {
    file("a.tfevents", std::string_view(all).substr(0, size));
    while (events.read_more(read, 100)) continue;
  }
  file("a.tfevents", all);
  while (events.read_more(read, 100)) continue;
  ASSERT_EQ(read.size(), 20U);
  for (int i = 0; i < 20; i++) EXPECT_EQ(read[static_cast<std::size_t>(i)].step, i);
  file("a.tfevents", "short");
  EXPECT_NE(test::error_of([&] { events.read_more(read); }).find("shorter"), std::string::npos);
}

}  // namespace
}  // namespace croze::logs
