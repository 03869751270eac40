# Every target makes what it needs by itself: the virtual environment comes from scripts/bootstrap.sh.
#
#   make test PYTEST='-k clock -x'      what pytest is told besides
#   make demo PYTHON=python3.12         the interpreter to build the environment on

SHELL := /bin/sh
# Or each start of a program would compile it again, hundreds of times in the tests.
unexport PYTHONDONTWRITEBYTECODE
MAKEFLAGS += --no-print-directory
BIN := .venv/bin
PYTEST ?=
# In continuous integration a test that fails is run again, up to twice, since processors that others use can make it
# fail; the closing lines name each of them.
AGAIN := $(if $(CI),--reruns 2 --reruns-delay 5 -r fER)
# The examples of the docs take a minute, and `make check` runs them.
EXAMPLES := tests/docs/test_examples.py
# What depends most on the Python and the system there are. The rest plays whole games, serves arenas and clusters.
QUICK := $(addprefix tests/,cli docs/test_links.py league match report runner sandbox sim warpline)
TESTS := tests --ignore $(EXAMPLES)

.DEFAULT_GOAL := help

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: program ## play a small league of every game, then the aliens demo league, each with its report, in about a minute
	@$(BIN)/warpleague demo

.PHONY: test
test: bootstrap ## run the tests on all processors, without the examples of the docs
	$(BIN)/pytest -n auto --dist worksteal $(TESTS) $(AGAIN) $(PYTEST)

.PHONY: test-quick
test-quick: ## run the third of the tests that depends most on the Python and the system there are
	@$(MAKE) test TESTS='$(QUICK)'

.PHONY: compile
compile: bootstrap ## compile the part of the program that is in C; `make pure` removes it
	$(BIN)/python scripts/compile.py

.PHONY: pure
pure: bootstrap
	$(BIN)/python scripts/compile.py --remove

.PHONY: test-compiled
test-compiled: compile ## run the tests of bots and matches with the part in C, then remove it
	@$(BIN)/pytest -n auto tests/match tests/runner tests/sandbox tests/e2e/test_misbehaving.py $(PYTEST); \
	status=$$?; $(MAKE) pure; exit $$status

.PHONY: coverage
coverage: bootstrap ## measure which lines the tests run in their own process; fails if they are too few
	$(BIN)/coverage run -m pytest --ignore tests/docs --ignore tests/e2e --ignore tests/soak --ignore tests/house $(PYTEST)
	$(BIN)/coverage report

.PHONY: hostile
hostile: bootstrap ## play every misbehaving bot in every game, at levels limits and sandbox
	HOSTILE=all $(BIN)/pytest -n auto tests/e2e/test_misbehaving.py $(PYTEST)

.PHONY: check
check: bootstrap ## all checks before a commit, without the tests; continues after a failure
	@$(MAKE) -k quick examples docs house

.PHONY: quick
quick: bootstrap ## the part of check that takes seconds, as the pre-commit hook runs it
	@$(MAKE) -k lint format types layers schema locks

.PHONY: lint
lint: bootstrap
	$(BIN)/ruff check .

.PHONY: format
format: bootstrap
	$(BIN)/ruff format --check .

.PHONY: types
types: bootstrap
	$(BIN)/mypy

.PHONY: layers
layers: bootstrap
	$(BIN)/lint-imports --no-logo

.PHONY: schema
schema: bootstrap
	$(BIN)/python scripts/schema.py --check
	$(BIN)/python scripts/games.py --check

.PHONY: locks
locks: bootstrap
	$(BIN)/python scripts/lock.py --check

# In continuous integration the examples run once, with nothing but the wheel.
.PHONY: examples
examples: bootstrap
	$(BIN)/pytest -n auto tests/docs $(if $(CI),--deselect $(EXAMPLES)::test_examples) $(AGAIN)
	$(if $(CI),@$(MAKE) examples-wheel)

.PHONY: examples-wheel
examples-wheel: bootstrap ## run the examples of the docs once more, in empty folders, with nothing but the wheel installed
	@VENV=.venvs/wheel LOCK=requirements/runtime.lock PYTHON=$(BIN)/python scripts/bootstrap.sh
	rm -rf dist/wheel
	$(BIN)/python -m hatchling build -t wheel -d dist/wheel
	.venvs/wheel/bin/python -m pip install -q --no-index --no-deps --force-reinstall dist/wheel/*.whl
	EXAMPLES_PYTHON=.venvs/wheel/bin/python $(BIN)/pytest -n auto $(EXAMPLES)::test_examples $(AGAIN) $(PYTEST)

.PHONY: house
house: bootstrap
	$(BIN)/pytest tests/house $(AGAIN)

.PHONY: docs
docs: bootstrap ## build the documentation as a site, in dist/docs; any warning is an error
	@VENV=.venvs/docs LOCK=requirements/docs.lock scripts/bootstrap.sh
	NO_MKDOCS_2_WARNING=1 .venvs/docs/bin/mkdocs build
	@echo "open dist/docs/index.html"

.PHONY: release-check
release-check: bootstrap ## build sdist and wheel, install the wheel in a new environment, and play a match with it
	@$(BIN)/python scripts/release.py

.PHONY: fix
fix: bootstrap ## format the code and fix what ruff can fix
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

.PHONY: vectors
vectors: bootstrap ## make the test vectors of the rules anew, after a change of rules
	@for game in aliens captains coasters sheets; do \
		$(BIN)/warpleague sim --vectors $$game --out protocol/conformance/rules/$$game.jsonl.xz --force || exit; done

.PHONY: bench
bench: bootstrap ## measure engines, referee, matches, leagues and start-up on this machine (BENCH='wire short')
	$(BIN)/python scripts/bench $(BENCH)

.PHONY: crash
crash: bootstrap ## kill leagues at random instants, fill their disk, compare (CRASH_KILLS=240)
	$(BIN)/python tests/soak/crash.py --kills $(or $(CRASH_KILLS),240)

.PHONY: rounds-crash
rounds-crash: bootstrap ## kill rounds at random instants, and compare the results (ROUNDS_KILLS=10)
	ROUNDS_KILLS=$(or $(ROUNDS_KILLS),10) $(BIN)/pytest tests/rounds/test_kills.py $(PYTEST)

.PHONY: contract
contract: bootstrap ## check the contract of every game in many random matches of every setting, for hours (CONTRACT_MATCHES=1000)
	WARPLEAGUE_LONG=1 WARPLEAGUE_SOAK=$(or $(CONTRACT_MATCHES),1000) $(BIN)/pytest -n auto tests/games $(PYTEST)

.PHONY: arena
arena: bootstrap ## measure a server under 200 spectators and 20 submissions a minute, or its memory (ARENA='--minutes 30')
	$(BIN)/python tests/soak/arena.py $(ARENA)

.PHONY: arena-faults
arena-faults: bootstrap ## kill a server at random moments while bots are submitted, or fill its disk (FAULTS='--full 8')
	$(BIN)/python tests/soak/arena_faults.py $(FAULTS)

.PHONY: fuzz
fuzz: bootstrap ## feed broken input to every reader (FUZZ_SECONDS=600)
	$(BIN)/python tests/soak/fuzz.py --seconds $(or $(FUZZ_SECONDS),600)
	FUZZ_STORES=$(or $(FUZZ_STORES),600) $(BIN)/pytest tests/league/test_untrusted_store.py

.PHONY: api-requests
api-requests: bootstrap ## send random requests to the JSON API of an arena (API_SECONDS=600)
	$(BIN)/python tests/soak/api_requests.py --seconds $(or $(API_SECONDS),600)

.PHONY: schemathesis
schemathesis: bootstrap ## let schemathesis try the JSON API with POST, as several authors (API_EXAMPLES=100)
	@VENV=.venvs/schemathesis LOCK=requirements/schemathesis.lock scripts/bootstrap.sh
	$(BIN)/python tests/soak/schemathesis_api.py .venvs/schemathesis/bin/schemathesis --examples $(or $(API_EXAMPLES),100)

.PHONY: adversary
adversary: bootstrap ## play honest bots beside every misbehaving one on a busy machine (ADVERSARY='--load 8')
	$(BIN)/python tests/soak/adversary.py $(ADVERSARY)

.PHONY: many-workers
many-workers: bootstrap ## simulate a cluster of 200 workers that freeze, die and join late (MANY_WORKERS='--workers 50')
	$(BIN)/python tests/soak/many_workers.py $(MANY_WORKERS)

.PHONY: bundle-traffic
bundle-traffic: bootstrap ## count what a cluster's client, scheduler and workers send of 40 bots of 2 MB (BUNDLE_TRAFFIC='--mb 1')
	$(BIN)/python -m tests.soak.bundle_traffic $(BUNDLE_TRAFFIC)

.PHONY: simulations
simulations: bootstrap ## simulate leagues and tests of strength whose truth is known, for half an hour (SIMULATIONS=--quick)
	$(BIN)/python tests/soak/strength.py errors $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py tests $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py ladder $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py best $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py adaptive $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py equal $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py versions $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py edits $(SIMULATIONS)
	$(BIN)/python tests/soak/strength.py ranks $(SIMULATIONS)

.PHONY: twins
twins: bootstrap ## play each game at every table size with the same bot twice, which must not differ, for some hours (TWINS_DEALS=1000)
	$(BIN)/python tests/soak/same_bot_twice.py $(or $(TWINS_DEALS),1000)

.PHONY: clocks
clocks: bootstrap ## show what bots are charged beside programs that compute; every searching bot plays with short clocks (CLOCKS='--games sheets')
	$(BIN)/python tests/soak/clocks.py $(CLOCKS)

.PHONY: clicks
clicks: bootstrap browsers ## play each game by clicks in Chromium and Firefox, and click through a league's pages; screenshots in dist/clicks (CLICKS='--games sheets')
	.venvs/browsers/bin/python tests/soak/clicks.py $(CLICKS)
	.venvs/browsers/bin/python tests/soak/pages.py $(CLICKS)
	.venvs/browsers/bin/python tests/soak/arena_pages.py $(CLICKS)

.PHONY: clicks-quick
clicks-quick: bootstrap browsers ## play each game once by clicks in Chromium, and one in Firefox if it is there, in minutes
	.venvs/browsers/bin/python tests/soak/clicks.py --browsers chromium --widths 1280
	@if command -v firefox-esr || command -v firefox; then \
		.venvs/browsers/bin/python tests/soak/clicks.py --browsers firefox --widths 1280 --games aliens; \
	else \
		echo "Firefox is not installed: no match is clicked there"; \
	fi

.PHONY: axe
axe: bootstrap browsers ## look for what hinders people on all kinds of pages, with the rules of axe (AXE='--games sheets')
	.venvs/browsers/bin/python tests/soak/pages.py --axe $(AXE)
	.venvs/browsers/bin/python tests/soak/arena_pages.py --axe $(AXE)

.PHONY: browsers
browsers:
	@VENV=.venvs/browsers LOCK=requirements/browsers.lock scripts/bootstrap.sh

.PHONY: soak
soak: bootstrap ## play many matches in one run and look for what grows (SOAK_MATCHES=20000)
	$(BIN)/python tests/soak/soak.py --matches $(or $(SOAK_MATCHES),20000)

.PHONY: test-pythons
test-pythons: ## golden matches, digests and the wire on every supported Python found here
	scripts/test-pythons.sh $(PYTEST)

.PHONY: test-ends
test-ends: ## the quick part on the oldest and the newest supported Python found here, besides the one of `make test`
	scripts/test-pythons.sh --ends $(QUICK) $(AGAIN) $(PYTEST)

.PHONY: test-tables
test-tables: bootstrap ## read the exported tables of a league with pandas, polars and DuckDB
	@VENV=.venvs/tables LOCK=requirements/tables.lock scripts/bootstrap.sh
	@$(BIN)/python scripts/read_tables.py .venvs/tables/bin/python

.PHONY: test-bridges
test-bridges: ## run the tests of the bridges to OpenSpiel, PettingZoo and engines, in an environment of their own
	@VENV=.venvs/bridges LOCK=requirements/bridges.lock scripts/bootstrap.sh
	.venvs/bridges/bin/pytest -n auto tests/bridges $(EXAMPLES) -k bridges $(AGAIN) $(PYTEST)

.PHONY: contract-openspiel
contract-openspiel: ## check the contract of every registered game of OpenSpiel that fits, in about ten minutes
	@VENV=.venvs/bridges LOCK=requirements/bridges.lock scripts/bootstrap.sh
	WARPLEAGUE_LONG=1 .venvs/bridges/bin/pytest -n auto tests/bridges/test_openspiel.py -k test_contract $(PYTEST)

.PHONY: bare
bare: ## demo and tests in a bare Debian made for it, as an ordinary user (BARE_SUITE=bookworm); needs root
	@scripts/bare.sh $(or $(BARE_SUITE),bookworm)

.PHONY: lock
lock: ## bring requirements/*.lock up to date with pyproject.toml (LOCK_FLAGS=--upgrade for the newest)
	VENV=.venvs/lock LOCK=requirements/lock.lock scripts/bootstrap.sh
	.venvs/lock/bin/python scripts/lock.py $(LOCK_FLAGS)

# What the program needs to run, in the same environment; `bootstrap` makes it one for development.
.PHONY: program
program:
	@LOCK=requirements/checkout.lock scripts/bootstrap.sh

.PHONY: bootstrap
bootstrap:
	@scripts/bootstrap.sh

.PHONY: clean
clean: ## remove caches and build products, keeping environments and results
	rm -rf dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .schemathesis .import_linter_cache
	find . -name __pycache__ -type d -not -path './.venv*' -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## remove the environments too (results stay)
	rm -rf .venv .venvs
