# Two commands on a fresh Debian or Ubuntu with Python 3.11: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
FABRIC := $(VENV)/bin/fabric
EXAMPLES := $(wildcard intent/*.yaml)

.PHONY: demo test slow quick test-lowest test-newest lint check lab fuzz bench docs site changelog mutations statements accuracy clean

demo: $(VENV)/.demo
	$(FABRIC) plan intent/starter.yaml
	$(FABRIC) generate intent/starter.yaml
	@echo
	@echo "Look at generated/starter/configs/backend-leaf001/ (config_db.json, frr.conf) and generated/starter/links.csv,"
	@echo "edit intent/starter.yaml, and run '$(FABRIC) generate --diff intent/starter.yaml' to see what would change."
	@echo "The command is $(FABRIC): '. $(VENV)/bin/activate' makes it 'fabric' in this shell."

# One more than cores: tests of the lab and of browsers wait for much of their time.
WORKERS ?= $(shell expr $$(nproc) + 1)
test slow quick: export PYTHONDONTWRITEBYTECODE = # empty: tests start `fabric` hundreds of times, which compiles it each time else
test: $(VENV)/.dev system-packages
	@$(VENV)/bin/python -m compileall -q -j 0 fabric tools # once, in place of once a worker
	$(VENV)/bin/python -m pytest -n $(WORKERS) -m "not slow"

# Large sizes, long sweeps, accidents of the lab, the search of the site: in CI, and before a release.
slow: $(VENV)/.dev system-packages
	$(VENV)/bin/python -m pytest -n $(WORKERS) -m slow

# Under 90 seconds on two cores: the language, plans, files of every network OS written and read, and the main commands.
QUICK := $(addprefix tests/design/,intent planner floor qos) tests/hardware tests/nos tests/configs/test_overrides.py tests/audit/diff \
  $(addprefix tests/cli/test_,plan.py generate.py check.py diff.py explain.py init.py)
LONG := $(addprefix tests/design/planner/test_,merges.py properties.py tenant_properties.py scale.py) tests/nos/outside
quick: $(VENV)/.dev
	$(VENV)/bin/python -m pytest -n $(WORKERS) $(QUICK) $(LONG:%=--ignore=%)

# The oldest and the newest versions of all that is depended on, each in an environment of its own: tests that go through
# every dependency, and the same output as in the usual environment.
LOWEST := .venv-lowest
NEWEST := .venv-newest
VERSIONS := tests/system/test_versions.py tests/system/test_same_bytes.py tests/nos/test_golden.py \
  tests/design/intent/test_schema.py tests/design/intent/test_wrong_intents.py tests/cli/test_diff.py \
  tests/solver/capacity/test_cuts.py tests/deliver/report/test_page.py tests/deliver/bom/test_reports.py \
  tests/deliver/cabling/test_lists.py tests/deliver/export/test_graphml.py tests/deliver/explore/test_run.py \
  tests/deliver/inventory/test_push.py tests/audit/checks/batfish/test_answers.py
PIP := -m pip --quiet --disable-pip-version-check install --no-compile
EXTRAS := .[apply,batfish,dask,netbox,test]

test-lowest: $(VENV)/.dev
	@python=$$($(VENV)/bin/python -m tests.system.versions python lowest); [ -n "$$python" ] || exit 0; \
	$(MAKE) $(LOWEST)/.installed PYTHON=$$python && \
	FABRIC_VERSIONS=lowest FABRIC_REFERENCE=$(VENV)/bin/fabric $(LOWEST)/bin/python -m pytest -n $(WORKERS) $(VERSIONS)

# Only the direct dependencies are held down; theirs are as new as they may be, as a user gets them.
$(LOWEST)/.installed: pyproject.toml tests/system/versions.py
	rm -rf $(LOWEST)
	$(PYTHON) -m venv $(LOWEST)
	$(PYTHON) -m tests.system.versions constraints > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python $(PIP) --constraint $(LOWEST)/constraints.txt --editable '$(EXTRAS)'
	@touch $@

test-newest: $(VENV)/.dev
	@[ -x $(NEWEST)/bin/python ] || $$($(VENV)/bin/python -m tests.system.versions python newest) -m venv $(NEWEST)
	$(NEWEST)/bin/python $(PIP) --upgrade --upgrade-strategy eager --editable '$(EXTRAS)'
	FABRIC_VERSIONS=newest FABRIC_REFERENCE=$(VENV)/bin/fabric $(NEWEST)/bin/python -m pytest -n $(WORKERS) $(VERSIONS)

lint: $(VENV)/.dev
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

check: $(VENV)/.demo
	$(FABRIC) generate --check $(EXAMPLES)
	$(FABRIC) check $(EXAMPLES)

# The plan on real daemons, with root: brought up, tested, broken, and taken down whatever came of it.
LAB ?= intent/evpn-lab.yaml
lab: $(VENV)/.demo system-packages
	$(FABRIC) lab up $(LAB)
	$(FABRIC) lab test --scenarios $(LAB); code=$$?; $(FABRIC) lab down $(LAB); exit $$code

# Broken and odd input from a new seed, in one process; the cases that fail are kept in fuzz-failures/ with their commands.
# `make fuzz CASES=100000`, and ARGUMENTS="--kind plan --seed 7" for one kind or for the same cases.
CASES ?= 2000
fuzz: $(VENV)/.dev
	$(VENV)/bin/python -m tests.fuzz --cases $(CASES) $(ARGUMENTS)

bench: $(VENV)/.demo
	$(VENV)/bin/python -m tests.bench.bench

docs: $(VENV)/.dev
	$(FABRIC) schema > intent/fabric.schema.json
	$(VENV)/bin/python -m tools.docs.intent > docs/intent.md
	$(VENV)/bin/python -m tools.docs.cli > docs/cli.md
	$(VENV)/bin/python -m tools.docs.schemas > docs/schemas.md
	$(VENV)/bin/python -m tools.docs.checks > docs/checks.md
	$(VENV)/bin/python -m tools.docs.codes > docs/codes.md
	$(VENV)/bin/python -m tools.docs.without_effect > docs/without-effect.md
	$(VENV)/bin/python -m tools.docs.values > docs/values.md
	$(VENV)/bin/python -m tools.docs.sonic_changes > docs/targets/sonic-changes.md
	$(VENV)/bin/python -m tools.docs.power > docs/power.md
	$(VENV)/bin/python -m tools.docs.report_image intent/h100-4su.yaml docs/img/report.png
	$(FABRIC) export svg intent/h100-4su.yaml -o docs/img/h100-4su.svg
	$(FABRIC) export svg-rail intent/h100-4su.yaml -o docs/img/h100-4su-rail.svg
	$(FABRIC) export svg-racks intent/h100-4su.yaml -o docs/img/h100-4su-racks.svg
	$(FABRIC) estimate intent/h100-4su.yaml --sweep 64K:8G --placement packed --placement spread --fail backend-spine001 \
	  --plot docs/img/h100-4su-allreduce.svg > /dev/null
	$(FABRIC) explore intent/h100-4su.yaml --gpus 1024 --vary switch=7060dx5-64s,sn5600,n9364e-sg2 \
	  --vary kind=rail-optimized,rack --vary oversubscription=1,2 --collective alltoall \
	  --prices docs/prices-example.yaml --plot docs/img/h100-explore.svg > /dev/null
	$(VENV)/bin/python -m tools.docs.effects > docs/.effects.new && mv docs/.effects.new docs/effects.md

# The pages of docs/ as a site in site/: open site/index.html, no server and no network needed. A dead link or anchor is an
# error. Without --quiet, which hides warnings from --strict as well.
site: $(VENV)/.dev
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/python -m mkdocs build --strict
	@echo "site/index.html"

# The Unreleased section of CHANGELOG.md, from the fragments in changelog.d/.
changelog: $(VENV)/.dev
	$(VENV)/bin/python -m tools.docs.changelog > .changelog.new && mv .changelog.new CHANGELOG.md

# The page of what the checks find: 500 damaged files, judged one after the other, take a minute.
mutations: $(VENV)/.demo
	$(VENV)/bin/python -m tests.audit.checks.mutations > docs/.mutations.new && mv docs/.mutations.new docs/mutations.md

# The page of how much of a config is judged: every line of seven designs on six network OSes damaged, which takes minutes.
statements: $(VENV)/.demo
	$(VENV)/bin/python -m tests.audit.checks.every_line --page > docs/.statements.new && mv docs/.statements.new docs/statements.md

# The shipped parameters, their band, and the page of what estimates are worth: fits without each source, 20 minutes of CPU.
accuracy: $(VENV)/.demo
	$(VENV)/bin/python -m tools.docs.accuracy --fit fabric/solver/collectives/data \
	  tests/reference/collectives tests/reference/collectives-more > docs/.accuracy.new && mv docs/.accuracy.new docs/accuracy.md

clean:
	rm -rf $(VENV) $(LOWEST) $(NEWEST) .bench dist build site

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fabricwright needs Python 3.11 or later")'
	$(PYTHON) -m venv $(VENV) || { echo "on Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

$(VENV)/.demo: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml | $(VENV)/bin/python
	$(VENV)/bin/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.demo

# Real peers that tests use. Without root, or without apt, those tests skip and say why.
.PHONY: system-packages
system-packages:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  missing=; \
	  for pair in vtysh:frr frr-reload:frr-pythontools ip:iproute2 lldpd:lldpd netplan:netplan.io nft:nftables \
	    shellcheck:shellcheck slurmctld:slurmctld scontrol:slurm-client dot:graphviz promtool:prometheus \
	    amtool:prometheus-alertmanager chromium:chromium kea-dhcp4:kea-dhcp4-server dnsmasq:dnsmasq-base udhcpc:udhcpc \
	    curl:curl ibsim:ibsim-utils opensm:opensm ibnetdiscover:infiniband-diags \
	    netconfd:netconfd sshd:openssh-server; do \
	    [ -x /usr/bin/$${pair%%:*} ] || [ -x /usr/sbin/$${pair%%:*} ] || [ -e /usr/lib/frr/$${pair%%:*}.py ] \
	      || missing="$$missing $${pair##*:}"; \
	  done; \
	  [ -z "$$missing" ] || { apt-get update -qq; \
	    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null \
	      || echo "not installed:$$missing; tests that need them will skip"; }; \
	fi
