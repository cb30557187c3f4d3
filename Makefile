# The commands of daily work.  Each one works alone on a fresh checkout: it installs what is
# missing, builds into build/, then runs.

jobs := $(shell nproc)
sources = $(shell find croze tools bench examples tests -name '*.h' -o -name '*.cpp')

.PHONY: all configured demo export-demo test test-viz campaigns quick bench docs format format-check lint layers packages clean

all: configured
	cmake --build build -j $(jobs)

configured: packages
	cmake --preset release

# Trains a convolutional network on Fashion-MNIST; the last line is the result as JSON.
demo: configured
	cmake --build build -j $(jobs) --target croze-demo
	build/bin/croze-demo fashion-mnist --json

# Exports that network, its training, BlazeFace, Silero VAD and a recurrent filter as plain C,
# compiles them, and compares results and times with croze's.
export-demo: configured
	cmake --build build -j $(jobs) --target croze-command example_export_c
	tools/export_demo.sh $(CURDIR)/build

test: all
	ctest --test-dir build --output-on-failure -j $(jobs) -LE campaign

# The pages of croze viz and exported models in headless Chromium, and TensorBoard's reader, with all
# that they need.
test-viz: all
	tests/viz/install.sh build
	ctest --test-dir build --output-on-failure -L "viz|pages"

# The fuzzers' long runs, which take an hour and more.
campaigns: all
	ctest --test-dir build --output-on-failure -j $(jobs) -L campaign

quick: all
	ctest --test-dir build --output-on-failure -j $(jobs) -L quick

# Measures the commit that is checked out, and shows how it compares with those before and with
# other libraries; PYTHON is a command of a Python that has PyTorch and onnxruntime.
PYTHON ?= python3
bench: all
	build/bin/croze-bench all --out bench/results --python "$(PYTHON)"
	build/bin/croze viz --bench bench/results --html build/bench.html

# Writes the pages that the code writes; a test compares them.
docs: all
	build/bin/tests/softmax_page > docs/softmax.md
	build/bin/tests/ggml_types_page > docs/ggml_types.md
	build/bin/croze docs onnx > docs/onnx.md
	build/bin/croze docs ops > docs/ops.md
	build/bin/croze options --markdown > docs/options.md

format:
	clang-format -i $(sources)

format-check:
	clang-format --dry-run --Werror $(sources)

lint: all
	@cmake/install-packages.sh clang-tidy-19
	clang-tidy-19 --quiet -p build $(filter croze/%.cpp tools/%.cpp,$(sources))

# The layers, with sizes, and the folders that each one includes; fails on an upward include.
layers: all
	build/bin/croze-layers .

packages:
	@cmake/install-packages.sh

clean:
	rm -rf build build-*
