# Every target sets up what it needs by itself; `make help` lists them.
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
  command -v $$p >/dev/null 2>&1 && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check
# More than the cores of a small machine, because many tests wait for processes and deadlines.
WORKERS ?= 4
RESOLUTION ?= highest lowest-direct

.PHONY: help serve test test-deps fuzz soak check bench screenshots conformance docs lock clean
.DEFAULT_GOAL := help

help: ## Show this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-11s %s\n", $$1, $$2}'

serve: ## Run the server with demo tools on http://127.0.0.1:8080
	@$(MAKE) --no-print-directory -j2 $(VENV)/.run console-or-not
	@exec $(BIN)/pegboard serve --demo

# Hundreds of processes load the same modules, so what Python has compiled is kept, whatever the shell says.
test: $(VENV)/.dev $(VENV)/.reference $(VENV)/.console $(VENV)/.browser ## Run every test, on real PostgreSQL and Valkey
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(WORKERS) $(ARGS)

# The versions are those that uv resolves for pyproject.toml, in environments that later runs reuse.
test-deps: $(VENV)/.dev $(VENV)/.lock ## Test an installation with the newest and with the lowest versions of the dependencies
	SMOKE_RESOLUTION="$(RESOLUTION)" $(BIN)/python -m pytest tests/packaging $(ARGS)

fuzz: $(VENV)/.dev $(VENV)/.reference ## Run every property test with 1,000 other examples; takes an hour or more
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(WORKERS) -m "hypothesis and not soak" --hypothesis-profile=fuzz --timeout=3600 $(ARGS)

soak: $(VENV)/.dev $(VENV)/.reference ## Run the long tests: repeated kills, thousands of calls, both event loops
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -n $(WORKERS) -m soak --timeout=600 $(ARGS)

check: $(VENV)/.dev $(VENV)/.console ## Format, lint, types, import directions, structure, words
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/structure.py
	$(BIN)/python .ci/words.py
	cd console && PATH="$(abspath $(BIN)):$$PATH" npm run --silent check

bench: $(VENV)/.dev $(VENV)/.reference $(VENV)/.peers $(VENV)/.console $(VENV)/.browser ## Measure the claims the documentation makes
	$(BIN)/python -m bench $(ARGS)

screenshots: $(VENV)/.dev $(VENV)/.console $(VENV)/.browser ## Write the pictures of the web console into docs/_static/console
	$(BIN)/python -m tests.browser.screenshots

conformance: $(VENV)/.dev $(VENV)/.conformance $(VENV)/clients-python/.installed ## Run the conformance suite of MCP and other clients against the server
	$(BIN)/python -m tests.conformance
	$(BIN)/python -m tests.conformance.clients

docs: $(VENV)/.docs ## Build the documentation into docs/_build
	$(BIN)/sphinx-build --quiet --fail-on-warning --keep-going docs docs/_build
	@echo "docs/_build/index.html"

lock: $(VENV)/.lock $(VENV)/.dev ## Resolve the newest versions and pin them by hash
	@for set in dev docs run lock console clients peers; do \
	  case $$set in dev) groups="--group build --group dev";; docs) groups="--group build --group docs -c requirements/dev.txt";; \
	    run) groups="--group build -c requirements/dev.txt";; lock|console) groups="--group $$set -c requirements/dev.txt";; \
	    *) groups="--group $$set";; esac; \
	  source=pyproject.toml; case $$set in lock|console|clients|peers) source=;; esac; \
	  echo "requirements/$$set.txt"; \
	  $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	    --no-header $$source $$groups -o requirements/$$set.txt || exit 1; done
	@rm -rf $(VENV)/lock && mkdir -p $(VENV)/lock && cp console/package.json $(VENV)/lock
	@cd $(VENV)/lock && $(NPM) install --package-lock-only --omit-lockfile-registry-resolved
	@cd $(VENV)/lock && $(NPM) ci  # the lock is complete if an empty folder can be filled from it
	@cp $(VENV)/lock/package-lock.json console && rm -rf $(VENV)/lock

clean: ## Remove what the other targets made
	rm -rf $(VENV) console/node_modules src/pegboard/surfaces/console/static docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Pegboard needs Python 3.11 or newer; none was found. Set PYTHON=/path/to/python3."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "Python's venv module is missing; on Debian: apt-get install python3-venv"; rm -rf $(VENV); exit 1; }

$(VENV)/.run $(VENV)/.dev $(VENV)/.docs $(VENV)/.lock: $(VENV)/.%: requirements/%.txt pyproject.toml | $(BIN)/python
	@echo "Setting up $* (once; a minute or so)"
	@$(PIP_INSTALL) --require-hashes -r requirements/$*.txt
	@if [ $* != lock ]; then $(PIP_INSTALL) --no-deps --no-build-isolation --editable .; fi
	@touch $@

# Programs of the Node world, with the Node that a Python package brings; it trusts whom the machine trusts.
NPM = PATH="$(abspath $(BIN)):$$PATH" NODE_USE_SYSTEM_CA=1 npm --loglevel=error --no-audit --no-fund --ignore-scripts --cache "$(abspath $(VENV))/npm-cache"
NPM_CI = $(NPM) ci

# The web console. Its Node has a folder of its own, so that pip can install other packages at the same time.
$(VENV)/.console: $(shell find console -type f -not -path "*/node_modules/*" -not -path "*/tests/*" -not -path "*/__pycache__/*") requirements/console.txt | $(BIN)/python
	@[ $(VENV)/.node -nt requirements/console.txt ] || { \
	  $(PIP_INSTALL) --require-hashes --no-compile --upgrade --target $(VENV)/node -r requirements/console.txt && touch $(VENV)/.node; }
	@PYTHONPATH=$(VENV)/node npm_config_cache="$(abspath $(VENV))/npm-cache" $(BIN)/python console/build_console.py
	@touch $@

.PHONY: console-or-not
console-or-not: | $(BIN)/python
	@[ "$$PEGBOARD_CONSOLE" = off ] || $(MAKE) --silent $(VENV)/.console >$(VENV)/console.log 2>&1 || \
	  echo "The web console could not be built, and the server starts without it: see $(VENV)/console.log"

# The browser of the tests, with its libraries and fonts; other systems than Linux on x86-64 bring their own.
$(VENV)/.browser: tests/browser/package-lock.json tests/browser/unpack.mjs $(VENV)/.dev
	@rm -rf $(VENV)/browser && mkdir -p $(VENV)/browser
	@cp tests/browser/package.json tests/browser/package-lock.json tests/browser/unpack.mjs $(VENV)/browser
	@cd $(VENV)/browser && $(NPM_CI)
	@[ "$$(uname -sm)" != "Linux x86_64" ] || { cd $(VENV)/browser && TMPDIR="$$PWD" PATH="$(abspath $(BIN)):$$PATH" node unpack.mjs; }
	@touch $@

# The reference MCP servers of the tests.
$(VENV)/.reference: tests/reference/package-lock.json $(VENV)/.dev
	@mkdir -p $(VENV)/reference && cp tests/reference/package.json tests/reference/package-lock.json $(VENV)/reference
	@cd $(VENV)/reference && $(NPM_CI)
	@touch $@

# The conformance suite and the inspector of MCP; 150 MB, so they are not fetched for the tests.
$(VENV)/.conformance: tests/conformance/package-lock.json $(VENV)/.dev
	@mkdir -p $(VENV)/conformance && cp tests/conformance/package.json tests/conformance/package-lock.json $(VENV)/conformance
	@cd $(VENV)/conformance && $(NPM_CI)
	@touch $@

# What the benchmarks compare with; 80 MB, so it is not fetched for the tests.
$(VENV)/.peers: bench/peers/package-lock.json $(VENV)/peers-python/.installed $(VENV)/.dev
	@mkdir -p $(VENV)/peers && cp bench/peers/package.json bench/peers/package-lock.json $(VENV)/peers
	@cd $(VENV)/peers && $(NPM_CI)
	@touch $@

# Python packages that cannot be installed beside our own, or that only benchmarks need.
$(VENV)/%-python/.installed: requirements/%.txt $(VENV)/.dev
	@$(BIN)/python -m venv $(@D)
	@$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@
