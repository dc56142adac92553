# Everything a user types. Each target first sets up what it needs (lib/set_up.py); where all is there, it starts at once.

$(if $(wildcard lib/set_up.sh),,$(error run make in Blocklab's own folder, such as: make -C blocklab lab))

# What a user gives reaches the shell through its environment alone, and the folder's name not at all: no letter of it
# is run. The language is that of the lessons asked for, else the system's.
override PYTHON := $(value PYTHON)
override FRESH := $(value FRESH)
override ONLY := $(value ONLY)
override URL := $(value URL)
override OPEN := $(value OPEN)
override VERSION := $(value VERSION)
LOCALE := $(firstword $(value LC_ALL) $(value LC_MESSAGES) $(value LANG))
override READ := $(or $(value READ),$(if $(filter zh zh_% zh.% zh-% zh@%,$(LOCALE)),zh,en))
export PYTHON FRESH ONLY URL OPEN VERSION READ
# Where it is set, each of the hundreds of Pythons that the gate starts compiles anew all that it imports.
unexport PYTHONDONTWRITEBYTECODE

SET_UP := @sh lib/set_up.sh
BIN := .venv/bin
COLAB := .venv-colab/bin
PIP := -m pip install --quiet --disable-pip-version-check
PYTEST := python -m pytest -q --durations=10 $(if $(filter true,$(value CI)),--whole-gate)
WARM_PYTEST := $(BIN)/python -m workshop.warm_kernels $(BIN)/$(PYTEST)
SITE := tests/browser/test_site.py tests/browser/test_site_panels.py tests/browser/test_stored_states.py tests/browser/test_whole_site.py
STAGES := lessons dev colab front-ends newest oldest
# Without a network, but for the machine's own: as root of a name space of its own, where the system allows it.
OFFLINE := unshare -rn sh -c 'ip link set lo up && exec "$$0" "$$@"'
IN_THE_GATE := -m "not thorough"
WAITING := tests/report/test_report_run.py tests/workshop/test_gate.py
UNIT := tests --ignore=tests/browser --ignore=tests/wheel --ignore=tests/fused_interpreted --ignore=tests/front_ends \
	--ignore=tests/single
BLOCKS := tests/checks tests/kernels tests/panel
# Two processes, one for each core; who is done takes over tests from the other.
SHARED := -n 2 --dist worksteal
FIRST_ON_COLAB := artifacts/as-on-colab/zh/00_start_here.ipynb
BROWSER := tests/browser $(SITE:%=--ignore=%)

.DEFAULT_GOAL := help
.PHONY: help lab test style unit-blocks unit-lessons waiting fused lessons-run colab browser thorough thorough-lessons thorough-unit thorough-browser front-ends lessons bench mutants handouts figures site site-run single
.PHONY: address release font clean newest oldest wishes
.PHONY: $(STAGES:%=%-environment)

help:
	@echo "make lab                open the lessons in JupyterLab (READ=en or READ=zh; FRESH=1 for new copies)"
	@echo "make test               the gate: style, tests, every lesson in both languages, Colab-like run, browser"
	@echo "make thorough           what takes long and seldom breaks: every combination, long training, tools of authors"
	@echo "make site-run           make site, and its pages in a real browser: without network, on a phone, in the dark, by keyboard"
	@echo "make front-ends         panels in Notebook 7, in Notebook 6.5 as on Colab, and in Voilà, in a real browser"
	@echo "make lessons            build and run the notebooks from notebooks/source (ONLY='02 03' for some)"
	@echo "make newest             unit tests and lessons with the newest of everything; make oldest: with the oldest"
	@echo "make bench              speed, as ratios against torch and against interact"
	@echo "make mutants            break the functions on purpose, one line at a time, and see the tests notice"
	@echo "make handouts           a page of each lesson for class, HTML and PDF, in handouts/ (ONLY='02 03' for some)"
	@echo "make site               the lessons as pages, panels alive, in site/ (OPEN=1 to look at them; ONLY='02 03': only these live)"
	@echo "make single             each lesson as one file that needs no other, in single/; each is run where nothing else is"
	@echo "make figures            draw the stills in pic/"
	@echo "make address URL=…      say where the repository lives; stamps README and lessons"
	@echo "make release VERSION=…  a version everywhere, the changes, and the files that people download, in dist/"
	@echo "make clean              remove the virtual environments; your copies in my/ stay"
	@echo "PYTHON=python3.12 after any of them: the Python to use"

# Learners need no test tools. "colab" is what Colab brings, "front-ends" other programs for notebooks; "newest" and
# "oldest" are the two ends of what pyproject.toml allows.
$(STAGES:%=%-environment):
	$(SET_UP) $(@:%-environment=%)

wishes:
	@case "$$READ" in en|zh) ;; *) printf '%s\n' "READ wants en or zh, got $$READ / READ 只能是 en 或 zh" >&2; exit 1 ;; esac
	@case "$$FRESH" in ''|0|1) ;; *) printf '%s\n' "FRESH wants 1 (new copies) or 0, got $$FRESH / FRESH 只能是 1（新的副本）或 0" >&2; exit 1 ;; esac

lab: wishes lessons-environment
	@$(BIN)/python -m workshop copies --language "$$READ" $(if $(filter 1,$(FRESH)),--fresh)
	@$(BIN)/python -m jupyterlab $(if $(filter 0,$(shell id -u 2> /dev/null)),--allow-root) \
		--LabApp.app_settings_dir="lib/workshop/lab_settings/$$READ" --ServerApp.root_dir=my --LabApp.default_url="/lab/tree/$$READ/00_start_here.ipynb"

# Each part keeps one processor busy, or none. What may install something comes first, then what takes longest.
test: dev-environment
	@$(BIN)/python -m workshop.gate style waiting=0 colab unit-blocks unit-lessons browser lessons-run fused
	@echo "The gate is green."

# Without a cache: that of ruff still calls an import sorted whose module has moved.
style: dev-environment
	$(BIN)/python -m ruff check --no-cache .
	$(BIN)/python -m ruff format --no-cache --check .

# The unit tests in two halves, a process each: two that share them out look through all thousands of them twice.
unit-blocks: dev-environment
	$(BIN)/$(PYTEST) $(BLOCKS) $(IN_THE_GATE)

unit-lessons: dev-environment
	$(BIN)/$(PYTEST) $(UNIT) $(BLOCKS:%=--ignore=%) $(WAITING:%=--ignore=%) $(IN_THE_GATE)

# The unit tests that for most of their time wait to see that something ends, or is not waited for.
waiting: dev-environment
	$(BIN)/$(PYTEST) $(WAITING)

# In Triton's interpreter, which is chosen when the kernels are defined: a process of its own.
fused: dev-environment
	TRITON_INTERPRET=1 $(BIN)/$(PYTEST) tests/fused_interpreted

# In English, with plain panels: in Chinese, where the same code runs, lessons run as on Colab, below, and show living
# ones. Beside it, so in one process. Slow cells: see thorough-lessons.
lessons-run: dev-environment
	$(WARM_PYTEST) --nbval --nbval-kernel-name warm --plain-panels en \
		tests/notebooks notebooks/en -m "not slow"

# One process, which leaves to Chromium what another part beside it leaves idle.
browser: dev-environment
	$(WARM_PYTEST) $(BROWSER) $(IN_THE_GATE)

# What takes longer than the gate and finds little that the gate does not: slow cells, every combination, claims that take
# training, pictures of all lessons in a browser, what authors and teachers run, environments that are broken. Every push
# runs it, beside the gate.
thorough: dev-environment
	@$(BIN)/python -m workshop.gate thorough-lessons=2 thorough-unit=2 thorough-browser=2

# All lessons in both languages, whole.
thorough-lessons: dev-environment
	$(WARM_PYTEST) --nbval --nbval-kernel-name warm \
		tests/notebooks notebooks/en notebooks/zh -n 2 --dist loadfile

thorough-unit: dev-environment
	$(BIN)/$(PYTEST) $(UNIT) $(SHARED) -m thorough

thorough-browser: dev-environment
	$(WARM_PYTEST) $(BROWSER) -n 2 --dist loadgroup -m thorough

# Not in the gate: the workflow that publishes the site runs it, and publishes what was looked through.
site-run: site
	$(BIN)/$(PYTEST) $(SITE) --site site -n 2 --dist loadgroup

# Packages that are not new use what others, or a newer Python, have come to call deprecated.
colab oldest: export PYTEST_ADDOPTS += -W ignore::DeprecationWarning

# What Colab brings, with the package installed from its wheel and nothing else touched. No other environment is needed:
# a job of its own runs it on Colab's Python. The first lesson's kernel is Jupyter's own, which imports all itself.
colab: colab-environment
	rm -rf build
	$(COLAB)/python $(PIP) --no-deps --no-build-isolation --force-reinstall .
	rm -rf artifacts/as-on-colab && mkdir -p artifacts/as-on-colab && cp -R notebooks/zh artifacts/as-on-colab/
	$(COLAB)/$(PYTEST) --whole-gate --nbval tests/wheel tests/notebooks $(FIRST_ON_COLAB) -m "not slow"
	$(COLAB)/python -P lib/workshop/warm_kernels.py $(COLAB)/$(PYTEST) --nbval --nbval-kernel-name warm \
		tests/notebooks artifacts/as-on-colab/zh --ignore=$(FIRST_ON_COLAB) -m "not slow"

# Not in the gate: a workflow of its own runs it.
front-ends: dev-environment colab-environment front-ends-environment
	$(BIN)/$(PYTEST) tests/front_ends

# What other versions change shows here: what the lessons print may differ, an error may not. Made from nothing each time,
# for what was the newest yesterday is there already.
newest oldest:
	rm -rf .venv-$@
	@$(MAKE) --no-print-directory $@-environment
	.venv-$@/bin/$(PYTEST) $(UNIT) $(SHARED)
	TRITON_INTERPRET=1 .venv-$@/bin/$(PYTEST) tests/fused_interpreted
	.venv-$@/bin/$(PYTEST) --nbval-lax --nbval-current-env tests/notebooks notebooks/en notebooks/zh -n 2 --dist loadfile

lessons: dev-environment
	$(BIN)/python -m workshop build $$ONLY

bench: dev-environment
	$(BIN)/python -m workshop.bench.normalization
	$(BIN)/python -m workshop.bench.kernels
	$(BIN)/python -m workshop.bench.attention
	$(BIN)/python -m workshop.bench.verdicts
	$(BIN)/python -m workshop.bench.strokes
	$(BIN)/python -m workshop.bench.panel
	$(BIN)/python -m workshop.bench.chat
	$(BIN)/python -m workshop.bench.classroom

handouts: dev-environment
	$(BIN)/python -m workshop handouts $$ONLY

site: dev-environment
	$(BIN)/python -m workshop site $(if $(filter 1,$(OPEN)),--open) $$ONLY

# Not in the gate: a workflow of its own runs it, which must be able to turn the network off.
single: dev-environment
	$(BIN)/python -m workshop single
	$(if $(or $(filter true,$(value CI)),$(shell $(OFFLINE) echo yes 2> /dev/null)),$(OFFLINE)) $(BIN)/$(PYTEST) tests/single -n 2

figures: dev-environment
	$(BIN)/python -m workshop.stills pic
	$(BIN)/python -m workshop.screenshots pic

mutants: dev-environment
	$(BIN)/python -m workshop.mutants $$ONLY

address: dev-environment
	$(BIN)/python -m workshop address -- "$$URL"

release: dev-environment
	$(BIN)/python -m workshop release -- "$$VERSION"

font: dev-environment
	$(BIN)/python -m workshop.font

clean:
	rm -rf .venv $(STAGES:%=.venv-%) .venv.lock build lib/*.egg-info artifacts
