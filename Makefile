# The commands a user types. Everything is built in build/ by CMake; see README.md.
BUILD := build
CMAKE_FLAGS ?=
JOBS ?= $(shell nproc)

.PHONY: all demo test bench soak sanitize fuzz papers pictures docs format check-format clean deps deps-test deps-soak deps-sanitize

all: deps
	@cmake --preset release $(CMAKE_FLAGS) > $(BUILD).log 2>&1 || { cat $(BUILD).log; exit 1; }
	@cmake --build $(BUILD) -j $(JOBS)

deps:
	@scripts/install-deps.sh demo

deps-test:
	@scripts/install-deps.sh test

deps-soak:
	@scripts/install-deps.sh soak

deps-sanitize:
	@scripts/install-deps.sh sanitize

demo: all
	@scripts/demo.sh

test: deps-test
	@cmake --preset release -DPLIANT_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) -LE soak -j $(JOBS) --output-on-failure

soak: deps-soak
	@cmake --preset release -DPLIANT_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS)
	@ctest --test-dir $(BUILD) -L soak --output-on-failure
	@cmake --preset debug $(CMAKE_FLAGS)
	@cmake --build build-debug -j $(JOBS)
	@ctest --test-dir build-debug -LE soak -j $(JOBS) --output-on-failure

# The fast tests once with AddressSanitizer and UndefinedBehaviorSanitizer, once with ThreadSanitizer: hours.
sanitize: deps-sanitize
	@for kind in asan tsan; do \
	    cmake --preset $$kind $(CMAKE_FLAGS) && cmake --build build-$$kind -j $(JOBS) && \
	    ctest --test-dir build-$$kind -LE soak -j $(JOBS) --output-on-failure || exit 1; done

# Damaged input for the readers, so many seconds each; another seed gives other input.
FUZZ_SECONDS ?= 3600
FUZZ_SEED ?= 1
fuzz: deps-test
	@cmake --preset release -DPLIANT_TESTS=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS) --target fuzz_readers
	@for what in scene mesh run; do $(BUILD)/tests/fuzz_readers $$what $(FUZZ_SECONDS) $(FUZZ_SEED) || exit 1; done

bench: deps-test
	@cmake --preset release -DPLIANT_BENCH=ON $(CMAKE_FLAGS)
	@cmake --build $(BUILD) -j $(JOBS)
	@for program in $(BUILD)/bench/bench_*; do echo "== $$(basename $$program)"; $$program || exit 1; done

papers: all
	@scripts/install-deps.sh papers
	@scripts/papers.sh

pictures: all
	@scripts/pictures.sh

docs: all
	@$(BUILD)/pliant docs scene > docs/scene.md
	@$(BUILD)/pliant docs schema > docs/scene.schema.json

format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

check-format:
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

clean:
	@rm -rf $(BUILD) $(BUILD).log build-debug build-asan build-tsan out
