# Every command of the project. A target first creates or updates the environment that it needs: see lib/set_up.sh.

$(if $(wildcard lib/set_up.sh),,$(error run make in Blocklab's own folder, for example: make -C blocklab lab))

# Pass user input through the environment to prevent shell injection.
override PYTHON := $(value PYTHON)
override FRESH := $(value FRESH)
override ONLY := $(value ONLY)
override URL := $(value URL)
override OPEN := $(value OPEN)
LOCALE := $(firstword $(value LC_ALL) $(value LC_MESSAGES) $(value LANG))
override READ := $(or $(value READ),$(if $(filter zh zh_% zh.% zh-% zh@%,$(LOCALE)),zh,en))
export PYTHON FRESH ONLY URL OPEN READ
unexport PYTHONDONTWRITEBYTECODE # the tests start hundreds of processes, which reuse compiled modules

RUN := .venv/bin/python -m
PYTEST := pytest -q --durations=10 $(if $(filter true,$(value CI)),--fail-on-skip)
NBVAL := $(PYTEST) --nbval --nbval-current-env tests/notebooks
PLAIN_NBVAL := pytest -q --nbval # as anybody types it, without the settings in tests/notebooks
# The tests that need neither a browser, nor an installed wheel, nor Triton's interpreter.
UNIT := tests $(addprefix --ignore=tests/,browser front_ends fused_interpreted single wheel)
CORE := tests/kernels tests/checks tests/panel
SITE := $(addprefix tests/browser/test_,site.py site_panels.py stored_states.py whole_site.py)
BROWSER := tests/browser $(SITE:%=--ignore=%)
# Runs a command without a network, in a new namespace, where the system allows it.
OFFLINE := unshare -rn sh -c 'ip link set lo up && exec "$$0" "$$@"'
ENVIRONMENTS := $(addsuffix -environment,lessons dev colab front-ends newest oldest)

.DEFAULT_GOAL := help
.PHONY: help lab check-args test style test-core test-units test-fused test-notebooks test-browser colab test-exhaustive
.PHONY: test-all front-ends newest oldest lessons site site-run single handouts figures bench mutants address font clean
.PHONY: $(ENVIRONMENTS) chromium

help:
	@sed -n 's/^\([a-z -]*\):.*## /make \1|/p' Makefile | while IFS='|' read -r target text; do printf '%-22s %s\n' "$$target" "$$text"; done
	@echo "PYTHON=python3.12 after any of them chooses the Python"

$(ENVIRONMENTS):
	@sh lib/set_up.sh $(@:%-environment=%)

check-args:
	@case "$$READ" in en|zh) ;; *) printf '%s\n' "READ must be en or zh, got $$READ / READ 只能是 en 或 zh" >&2; exit 1 ;; esac
	@case "$$FRESH" in ''|0|1) ;; *) printf '%s\n' "FRESH must be 0 or 1, got $$FRESH / FRESH 只能是 0 或 1" >&2; exit 1 ;; esac

lab: check-args lessons-environment ## open the lessons in JupyterLab (READ=en or READ=zh; FRESH=1 for new copies)
	@$(RUN) authoring copies --language "$$READ" $(if $(filter 1,$(FRESH)),--fresh)
	@$(RUN) jupyterlab $(if $(filter 0,$(shell id -u 2> /dev/null)),--allow-root) --ServerApp.root_dir=my \
		--LabApp.app_settings_dir="lib/authoring/lab_settings/$$READ" --LabApp.default_url="/lab/tree/$$READ/00_start_here.ipynb" \
		--LabApp.workspaces_dir=my/.jupyterlab --LabApp.custom_css=True --ServerApp.tornado_settings=static_custom_path=lib/authoring/lab_settings

# Two parts run at a time, the longest first; each keeps one core busy.
test: chromium ## style, unit tests, every lesson, a Colab-like environment, a real browser
	@echo "Two parts run at a time. The output of a part appears when it has ended."
	@$(MAKE) --no-print-directory -j2 -k $(if $(filter output-sync,$(.FEATURES)),--output-sync) \
		test-units test-core test-browser colab test-notebooks test-fused style
	@echo "All tests passed."

style test-core test-units test-fused test-notebooks test-browser chromium: dev-environment

chromium: # not for the parts of `test`, so that a download that fails is tried once
	@$(RUN) authoring.chromium

style:
	$(RUN) ruff check --no-cache .
	$(RUN) ruff format --no-cache --check .
	.venv/bin/python .venv/bin/lint-imports --no-cache --no-logo

test-core:
	$(RUN) $(PYTEST) $(CORE) -m "not exhaustive"

test-units:
	$(RUN) $(PYTEST) $(UNIT) $(CORE:%=--ignore=%) -m "not exhaustive"

test-fused: # a process of its own: Triton chooses its interpreter when a kernel is defined
	TRITON_INTERPRET=1 $(RUN) $(PYTEST) tests/fused_interpreted

test-notebooks: # in English with fallback panels; `colab` runs the same code in Chinese with live panels
	$(RUN) $(NBVAL) notebooks/en --plain-panels en -m "not slow"
	$(RUN) $(PLAIN_NBVAL) notebooks/en/five_notes.ipynb notebooks/zh/08_swiglu_width.ipynb

test-browser:
	$(RUN) $(PYTEST) $(BROWSER) -m "not exhaustive"

colab oldest: export PYTEST_ADDOPTS += -W ignore::DeprecationWarning # from old packages

colab: colab-environment ## the lessons with the package versions of Colab, and Blocklab installed from its wheel
	rm -rf build artifacts/as-on-colab && mkdir -p artifacts/as-on-colab && cp -R notebooks/zh artifacts/as-on-colab/
	.venv-colab/bin/python -m pip install --quiet --no-deps --no-build-isolation --force-reinstall .
	.venv-colab/bin/python -m $(NBVAL) --fail-on-skip tests/wheel artifacts/as-on-colab/zh -m "not slow"

test-exhaustive: chromium ## slow tests that rarely fail, which `make test` leaves out
	$(RUN) $(PYTEST) $(UNIT) -n 2 --dist worksteal -m exhaustive
	$(RUN) $(PYTEST) $(BROWSER) -n 2 --dist loadgroup -m exhaustive
	$(RUN) $(NBVAL) notebooks/en notebooks/zh -n 2 --dist loadfile
	$(RUN) $(PLAIN_NBVAL) notebooks/en notebooks/zh -n 2 --dist loadfile

test-all: test test-exhaustive ## both of these

front-ends: chromium colab-environment front-ends-environment ## panels in Notebook 7 and in Colab's Notebook 6.5
	$(RUN) $(PYTEST) tests/front_ends

newest oldest: ## unit tests and lessons with the newest, or oldest, versions that pyproject.toml allows
	rm -rf .venv-$@
	@$(MAKE) --no-print-directory $@-environment
	.venv-$@/bin/python -m $(PYTEST) $(UNIT) -n 2 --dist worksteal
	TRITON_INTERPRET=1 .venv-$@/bin/python -m $(PYTEST) tests/fused_interpreted
	.venv-$@/bin/python -m $(NBVAL) --nbval-lax notebooks/en notebooks/zh -n 2 --dist loadfile

lessons site single handouts figures bench mutants address font: dev-environment

lessons: ## build and run the notebooks from notebooks/source (ONLY='02 03' for some)
	$(RUN) authoring build $$ONLY
site: ## the lessons as web pages, in site/ (OPEN=1 opens them; ONLY='02 03' records panels of these only)
	$(RUN) authoring site $(if $(filter 1,$(OPEN)),--open) $$ONLY
site-run: site chromium ## the same, then test the pages in a real browser
	$(RUN) $(PYTEST) $(SITE) --site site -n 2 --dist loadgroup
single: ## each lesson as a single file, in single/, tested without a network
	$(RUN) authoring single
	$(if $(or $(filter true,$(value CI)),$(shell $(OFFLINE) echo yes 2> /dev/null)),$(OFFLINE)) $(RUN) $(PYTEST) tests/single -n 2
handouts: ## a worksheet for each lesson, HTML and PDF, in handouts/ (ONLY='02 03' for some)
	$(RUN) authoring handouts $$ONLY
figures: ## draw the pictures in pic/
	$(RUN) authoring.figures pic
bench: ## benchmarks, as ratios within one run (ONLY='kernels panel' for some)
	$(RUN) authoring.benchmarks $$ONLY
mutants: ## break the kernels, one expression at a time, and count the changes that no test notices
	$(RUN) pip install --quiet --disable-pip-version-check -c constraints.txt mutmut
	$(RUN) authoring.mutation_testing $$ONLY
address: ## set the repository's address in the READMEs and the lessons (URL=https://github.com/…)
	$(RUN) authoring address -- "$$URL"
font:
	$(RUN) authoring.font

clean: ## remove the virtual environments; your copies in my/ stay
	rm -rf .venv $(ENVIRONMENTS:%-environment=.venv-%) build lib/*.egg-info artifacts
