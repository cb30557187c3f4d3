// server.cpp -- a server's loop: threads take requests from a queue and answer them with one
// network.  What arrives while a thread is busy is answered together, in one batch.
#include <croze/croze.h>
#include <croze/nn/nn.h>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <exception>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

using namespace croze;

namespace {

constexpr std::int64_t inputs = 16, classes = 4, batch_size = 8;

using Features = std::vector<float>;  // `inputs` numbers

struct Net {
  nn::Linear hidden{inputs, 64}, output{64, classes};
  Tensor operator()(const Tensor& x) const { return output(relu(hidden(x))); }
};

class Server {
 public:
  Server(const Net& net, int threads) : net_(net) {
    for (int i = 0; i < threads; i++) threads_.emplace_back([this] { serve(); });
  }

  // Answers what has been asked, then stops.
  ~Server() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    arrived_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // The class of these features, or what went wrong.
  std::future<int> ask(Features features) {
    check(std::ssize(features) == inputs, "{} features, not {}", features.size(), inputs);
    Request request{std::move(features), {}};
    std::future<int> answer = request.answer.get_future();
    {
      const std::lock_guard lock(mutex_);
      queue_.push_back(std::move(request));
    }
    arrived_.notify_one();
    return answer;
  }

 private:
  struct Request {
    Features features;
    std::promise<int> answer;
  };

  // The next requests, at most a batch of them; none at the end.
  std::vector<Request> take() {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
    const auto count = std::min<std::ptrdiff_t>(std::ssize(queue_), batch_size);
    std::vector<Request> requests(std::move_iterator(queue_.begin()),
                                  std::move_iterator(queue_.begin() + count));
    queue_.erase(queue_.begin(), queue_.begin() + count);
    return requests;
  }

  void serve() {
    // A captured step belongs to one thread; the network is shared.
    auto classify = capture([this](const Tensor& x) { return net_(x).argmax(1); });
    for (std::vector<Request> requests = take(); !requests.empty(); requests = take()) {
      try {
        std::vector<float> numbers(inputs * batch_size);  // one shape: zeros fill it up
        for (std::size_t i = 0; i < requests.size(); i++) {
          std::ranges::copy(requests[i].features, &numbers[i * inputs]);
        }
        const Tensor result = classify(Tensor::from_data(numbers, {batch_size, inputs}));
        const std::vector<int> found = result.to_vector<int>();
        for (std::size_t i = 0; i < requests.size(); i++) requests[i].answer.set_value(found[i]);
      } catch (const std::exception&) {
        for (Request& r : requests) r.answer.set_exception(std::current_exception());
      }
    }
  }

  const Net& net_;
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Request> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

int run() {
  constexpr int requests = 200;
  manual_seed(1);
  const Net net;
  const Tensor questions = Tensor::randn({requests, inputs}).realize();
  const std::vector<int> expected = net(questions).argmax(1).to_vector<int>();

  int right = 0;
  {
    Server server(net, 2);
    std::vector<std::future<int>> answers;
    const std::vector<float> numbers = questions.to_vector<float>();
    for (auto at = numbers.begin(); at != numbers.end(); at += inputs) {
      answers.push_back(server.ask(Features(at, at + inputs)));
    }
    for (std::size_t i = 0; i < answers.size(); i++) right += answers[i].get() == expected[i];
  }
  std::printf("%d of %d answers are right\n", right, requests);
  return right == requests ? 0 : 1;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "server: %s\n", error.what());
    return 1;
  }
}
