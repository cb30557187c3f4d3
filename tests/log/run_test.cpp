// Runs: what is written when, and what is said of mistakes.
#include "croze/log/run.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "croze/io/image.h"
#include "croze/log/event_file.h"
#include "support/files.h"

namespace croze::logs {
namespace {

class Runs : public test::FilesTest {
 protected:
  RunOptions here(double flush_seconds = 1000) const { return {folder(), flush_seconds}; }

  static std::vector<Event> events_of(const std::string& path) {
    std::vector<Event> events;
    EventFile file(path);
    while (file.read_more(events)) continue;
    return events;
  }
};

TEST_F(Runs, WriteWhatWaitsAtFlushAndAtTheEnd) {
  std::string path;
  {
    logs::Run run("first", here());
    path = run.path();
    EXPECT_EQ(run.folder(), this->path("first"));
    run.scalar("loss", 1, 0);
    EXPECT_EQ(events_of(path).size(), 0U);
    run.flush();
    EXPECT_EQ(events_of(path).size(), 1U);
    run.scalar("loss", 0.5, 1);
  }
  const std::vector<Event> events = events_of(path);
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<double>(events[1].value), 0.5);
  EXPECT_GT(events[1].time, 1.6e9);
}

TEST_F(Runs, WriteAtOnceWhatMayNotWait) {
  logs::Run run("first", here(0));
  run.scalar("loss", 1, 0);
  EXPECT_EQ(events_of(run.path()).size(), 1U);
  logs::Run large("large", here());
  large.text("notes", std::string(2 << 20, 'x'), 0);
  EXPECT_EQ(events_of(large.path()).size(), 1U);
}

TEST_F(Runs, OfOneNameStandSideBySide) {
  logs::Run a("same", here()), b("same", here());
  EXPECT_EQ(a.folder(), b.folder());
  EXPECT_NE(a.path(), b.path());
  EXPECT_TRUE(is_event_file_name(a.path()));
}

TEST_F(Runs, KeepWhatWasFlushedWhenTheProgramIsKilled) {
  const std::string options = folder();
  const pid_t child = fork();
  if (child == 0) {
    logs::Run run("killed", {options, 1000});
    for (int i = 0; i < 100; i++) run.scalar("loss", i, i);
    run.flush();
    run.scalar("loss", 100, 100);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  const std::filesystem::directory_iterator files(path("killed"));
  EXPECT_EQ(events_of(begin(files)->path().string()).size(), 100U);
}

TEST_F(Runs, WriteTensors) {
  logs::Run run("tensors", here());
  run.scalar("sum", Tensor::full({2, 2}, 1.5).sum(), 1);
  run.histogram("spread", Tensor::from_data<float>({1, 2, NAN, -2}, {2, 2}), 2);
  run.image("grey", Tensor::from_data<std::uint8_t>({0, 100, 200, 255}, {2, 2}), 3);
  run.image("float", Tensor::from_data<float>({-1, 0.5, NAN, 2}, {1, 2, 2}), 4);
  const auto pixels = Tensor::from_data<std::uint8_t>({1, 2, 3, 4, 5, 6}, {1, 2, 3});
  run.image("last", pixels, 5, ImageLayout::ChannelsLast);
  run.image("first", pixels.permute({2, 0, 1}), 6);
  run.flush();
  const std::vector<Event> events = events_of(run.path());
  ASSERT_EQ(events.size(), 7U);
  EXPECT_EQ(std::get<double>(events[0].value), 6);
  EXPECT_EQ(events[1].tag, "spread/not finite");
  EXPECT_EQ(std::get<double>(events[1].value), 1);
  EXPECT_EQ(std::get<Histogram>(events[2].value).count, 3);
  const auto samples = [&](std::size_t i) {
    const std::string& png = std::get<Picture>(events[i].value).png;
    return decode_image(std::as_bytes(std::span(png)), "png").to_vector<std::uint8_t>();
  };
  EXPECT_EQ(samples(3), (std::vector<std::uint8_t>{0, 100, 200, 255}));
  EXPECT_EQ(samples(4), (std::vector<std::uint8_t>{0, 128, 0, 255}));
  EXPECT_EQ(samples(5), (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(samples(6), samples(5));
}

// ---- mistakes ---------------------------------------------------------------------------------

void expect_error(const std::string& error, std::string_view part) {
  EXPECT_NE(error.find(part), std::string::npos) << error;
}

TEST_F(Runs, RefuseWhatIsNoNote) {
  logs::Run run("r", here());
  expect_error(test::error_of([&] { logs::Run("", here()); }), "a run has a name");
  expect_error(test::error_of([&] { run.scalar("", 1, 0); }), "has a tag");
  expect_error(test::error_of([&] { run.scalar("loss", Tensor::zeros({2}), 0); }), "(2,)");
  const std::string shape = test::error_of([&] { run.image("x", Tensor::zeros({28, 28, 1}), 0); });
  expect_error(shape, "28 channels, not 1 to 4");
  expect_error(shape, "ChannelsLast");
  expect_error(shape, "run_test.cpp");
  expect_error(test::error_of([&] { run.image("x", Tensor::zeros({3}), 0); }), "(height, width)");
  expect_error(test::error_of([&] {
                 run.image("x", Tensor::zeros({2, 2}).cast(DType::Int32), 0);
               }),
               "int32");
}

TEST_F(Runs, SayWhichFolderCannotBeMade) {
  file("taken", "a file");
  expect_error(test::error_of([&] { logs::Run("taken", here()); }), path("taken"));
  expect_error(test::error_of([&] { logs::Run("taken/in", here()); }), "cannot make the folder");
}

// As on a full disk: the file may not grow.
TEST_F(Runs, EndWithTheFirstWriteThatFails) {
  logs::Run run("r", here());
  run.scalar("loss", 1, 0);
  run.flush();
  struct rlimit before {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small { 200, before.rlim_max };
  setrlimit(RLIMIT_FSIZE, &small);
  run.text("notes", std::string(1000, 'x'), 1);
  const std::string error = test::error_if_any([&] { run.flush(); });
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, old_handler);
  expect_error(error, "cannot write " + run.path());
  expect_error(test::error_of([&] { run.scalar("loss", 1, 2); }), "nothing more is");
  EXPECT_EQ(events_of(run.path()).size(), 1U);
}

}  // namespace
}  // namespace croze::logs
