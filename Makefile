# Everything runs from this directory. The first call sets up; a second finds nothing to do.

UV_VERSION := 0.13.9
# The newest Python that runs: a name on the PATH need not (version managers leave shims behind).
PYTHON ?= $(firstword $(foreach name,python3.14 python3.13 python3.12 python3.11 python3,$(shell \
	$(name) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' 2>/dev/null && echo $(name))))

UV := .tools/bin/uv
BIN := .venv/bin
TOOLS_STAMP := .tools/.uv-$(UV_VERSION)
DOCS := .tools/docs
DOCS_STAMP := $(DOCS)/.packages
PACKAGES_STAMP := .venv/.packages
SETUP_STAMP := .venv/.skycell
RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: help setup demo test soak sanitize bench generate lint format wheel docs release lock clean
.DEFAULT_GOAL := help

help: ## What can be made
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

setup: $(SETUP_STAMP) ## The environment .venv with skycell in it

demo: setup ## Reproduce the GEO study (ICCCN'97 Tables 3 and 4) and write its report
	$(BIN)/skycell reproduce icccn97-t3 icccn97-t4 --out out/demo --force

test: setup ## Every test of both languages
	cargo test --locked --quiet
	$(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal

# Numbers, of some six scenarios each, that one round of the soak runs, and the first it begins with.
ROUND := 1000
FIRST := 400

# Of each form of file: measurements, satellites, scenarios and sweeps, results, bundles, stores.
MUTANTS := 10000
MUTANT_TESTS := tests/unit/scenario/test_reader_mutants.py tests/unit/orbit/test_mutants.py tests/unit/mutants

soak: ## Mutants of every form of file, then both engines, and regions, on generated scenarios, until stopped or until they differ
	SKYCELL_MUTANTS=$(MUTANTS) $(BIN)/python -m pytest --quiet --numprocesses auto --dist worksteal $(MUTANT_TESTS)
	@first=$(FIRST); while \
		SKYCELL_FIRST_SCENARIO=$$first SKYCELL_SCENARIOS=$(ROUND) \
		cargo test --release --locked --quiet -p skycell-fast --test differential --test in_regions \
			-- --nocapture both_engines regions_leave >target/soak.log 2>&1; do \
		first=$$((first + $(ROUND))); grep alike target/soak.log; echo "numbers $(FIRST) to $$((first - 1)) are clean"; \
	done; cat target/soak.log; exit 1

# Scenarios of each kind that run in regions under the thread sanitizer, many times as slowly as without.
SANITIZED := 40

sanitize: ## Regions in threads under the thread sanitizer; needs nightly Rust with its component rust-src
	SKYCELL_SCENARIOS=$(SANITIZED) RUSTFLAGS=-Zsanitizer=thread \
		cargo +nightly test -Zbuild-std --target $$(rustc -vV | sed -n 's/^host: //p') --target-dir target/sanitized \
			--release --locked --quiet -p skycell-fast --test in_regions

bench: setup ## The fixed scenarios that speed is quoted from
	$(BIN)/python benches/run.py

# What is asked for by name, as tools/generate.py says: WHAT="vectors NAME", WHAT="outputs PAGE".
WHAT :=

generate: setup ## Write what follows from the declarations (CHECK=1: say what is out of date)
	$(BIN)/python tools/generate.py $(if $(CHECK),--check) $(WHAT)

lint: setup ## Format, lints and types of both languages
	cargo fmt --all --check
	PYO3_PYTHON=$(CURDIR)/$(BIN)/python cargo clippy --locked --quiet --workspace --all-targets -- -D warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: setup ## Bring the sources into the agreed format
	cargo fmt --all
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

wheel: setup ## Build the wheel, install it into a new environment and use it there
	$(BIN)/python tools/check_wheel.py

docs: $(DOCS_STAMP) ## The documents as a site, in out/docs; dead links are errors
	rm -rf out/docs
	$(DOCS)/bin/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going --jobs auto \
		--conf-dir docs --doctree-dir target/docs . out/docs

# The revision of the last release.
BASE :=

release: setup ## Say what a release lacks (BASE=revision of the last one)
	@test -n "$(BASE)" || { echo "BASE is missing: make release BASE=v0.1.0, the revision of the last release" >&2; exit 2; }
	$(BIN)/python tools/check_release.py $(BASE)
	$(BIN)/python tools/generate.py --check
	$(BIN)/python tools/check_wheel.py

lock: $(TOOLS_STAMP) ## Compile both locks anew from pyproject.toml
	$(UV) pip compile --universal --generate-hashes --no-emit-index-url --all-extras --group dev \
		--quiet pyproject.toml -o requirements.lock
	$(UV) pip compile --universal --generate-hashes --no-emit-index-url --group pyproject.toml:docs \
		--python-version 3.11 --quiet -o docs/requirements.lock

clean: ## Remove what was built, and the environments
	rm -rf .venv .tools target out python/skycell/_core*.so

# Private to this directory: the pinned uv, by nothing but Python's own venv and pip.
$(TOOLS_STAMP):
	@test -n "$(PYTHON)" || { echo "skycell needs Python 3.11 or later (Debian, Ubuntu: apt install python3)" >&2; exit 1; }
	@command -v cargo >/dev/null || { echo "skycell needs cargo, of Rust 1.88 or later (Debian, Ubuntu: apt install rustup; rustup default stable)" >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "$(PYTHON) lacks its venv module \
	(Debian, Ubuntu: apt install $$($(PYTHON) -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'))" >&2; exit 1; }
	rm -rf .tools
	$(PYTHON) -m venv .tools
	.tools/bin/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

# What makes the site is needed for nothing else, so it has a lock and an environment of its own.
$(DOCS_STAMP): docs/requirements.lock $(TOOLS_STAMP)
	test -x $(DOCS)/bin/python || $(UV) venv --quiet --python .tools/bin/python $(DOCS)
	$(UV) pip sync --quiet --python $(DOCS)/bin/python --require-hashes docs/requirements.lock
	@touch $@

$(PACKAGES_STAMP): requirements.lock $(TOOLS_STAMP)
	test -x $(BIN)/python || $(UV) venv --quiet --python .tools/bin/python .venv
	$(UV) pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes requirements.lock
	@touch $@

$(SETUP_STAMP): $(PACKAGES_STAMP) pyproject.toml $(RUST_SOURCES)
	@echo "Compiling the engine (the first time takes about a minute) ..."
	@$(UV) pip install --quiet --python $(BIN)/python --no-deps --reinstall-package skycell -e .
	@$(BIN)/python -m compileall -q python
	@touch $@
