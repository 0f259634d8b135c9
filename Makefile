# SPDX-License-Identifier: Apache-2.0
# Two commands to begin with: `make demo` and `make test`. `make help` lists the rest.
# Packages that are missing are installed through apt; scripts/setup.sh says which.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
WERROR ?= OFF
FUZZ_SECONDS ?= 20
# The distribution's own tools come first: theirs are the versions that are known to work.
export PATH := /usr/bin:/bin:$(PATH)

CONFIGURE = cmake --log-level=WARNING -DCMAKE_COMPILE_WARNING_AS_ERROR=$(WERROR) --preset
BUILD = cmake --build -j $(JOBS) --preset
# Failures and the closing lines; thousands of passes are not news.
TEST = ctest --output-on-failure -j $(JOBS) --preset
BRIEF = grep -vE '^ +Start +[0-9]+:|^ *[0-9]+/[0-9]+ Test .* Passed '

# Steps of a target follow one another, whatever -j says: each uses all JOBS by itself, and they share build/release.
.NOTPARALLEL:
.PHONY: help setup release demo test quick bench verify format format-check tidy install clean
.PHONY: test-release test-asan test-tsan test-fuzz test-package

help:            ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## */\1\t/p' $(firstword $(MAKEFILE_LIST)) | awk -F'\t' '{printf "  make %-14s %s\n", $$1, $$2}'

setup:           ## install what is missing to build, test and format
	@scripts/setup.sh test

release:         ## build the library, build/release/tessera and build/release/twincc
	@scripts/setup.sh build
	@$(CONFIGURE) release -DTESSERA_BUILD_TESTS=OFF -DTESSERA_BUILD_EXAMPLES=OFF
	@$(BUILD) release

demo: release    ## attention over real tensors, checked against the oracle
	@scripts/demo.sh build/release/tessera

test: setup      ## everything that CI runs, 35 to 45 minutes on two cores
	@$(MAKE) --no-print-directory format-check test-release tidy test-package test-fuzz test-asan test-tsan
	@echo "make test: all passed"

test-release:    ## the release build and its tests
	@echo "== release: build and tests"
	@$(CONFIGURE) release -DTESSERA_BUILD_TESTS=ON -DTESSERA_BUILD_EXAMPLES=ON
	@$(BUILD) release
	@$(TEST) release | $(BRIEF)

test-asan:       ## tests under the address and undefined-behaviour sanitizers
	@echo "== asan: build and tests"
	@$(CONFIGURE) asan
	@$(BUILD) asan
	@$(TEST) asan | $(BRIEF)

test-tsan:       ## tests under the thread sanitizer
	@echo "== tsan: build and tests"
	@$(CONFIGURE) tsan
	@$(BUILD) tsan
	@$(TEST) tsan | $(BRIEF)

test-fuzz:       ## each fuzz target for FUZZ_SECONDS (20)
	@echo "== fuzz: $(FUZZ_SECONDS) s a target"
	@$(CONFIGURE) fuzz -DTESSERA_FUZZ_SECONDS=$(FUZZ_SECONDS)
	@$(BUILD) fuzz --target fuzzers
	@$(TEST) fuzz | $(BRIEF)

test-package:    ## install, then build and run the examples against what is installed
	@echo "== package: examples against the installed library, static and shared"
	@JOBS=$(JOBS) scripts/test_package.sh

quick:           ## the fast tests of the dev build; for every edit
	@$(CONFIGURE) dev
	@$(BUILD) dev
	@ctest --output-on-failure -j $(JOBS) --preset dev -LE slow | $(BRIEF)

bench: release   ## measure this machine: time, FLOP/s, bytes/s, share of the roof
	@build/release/tessera bench

verify: release  ## every implementation of this machine against the oracle
	@build/release/tessera verify

format:          ## rewrite the sources in the project's format
	@scripts/format.sh

format-check:    ## fail where `make format` would change something
	@scripts/format.sh --check

tidy:            ## clang-tidy over the library and the command
	@scripts/tidy.sh build/release $(JOBS)

install: release ## install the library and the command under PREFIX (/usr/local)
	@cmake --install build/release --prefix $(PREFIX)

clean:           ## remove build/
	@rm -rf build
