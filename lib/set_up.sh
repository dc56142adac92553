# Find a Python that is new enough, and let it set up what a target of the Makefile needs: sh lib/set_up.sh STAGE
#
# The one that is named (PYTHON=…) and no other; else the first one on the PATH, else the environment's own.

stage=$1
if [ -n "$PYTHON" ]; then
    set -- "$PYTHON"
else
    set -- python3 python3.14 python3.13 python3.12 python3.11 python .venv/bin/python
fi
for python; do
    new_enough=$("$python" -c 'import sys; print(sys.version_info >= (3, 11))' 2> /dev/null < /dev/null)
    [ "$new_enough" != True ] || exec "$python" lib/set_up.py "$stage"
done

version=$("$python" -c 'import sys; print("Python %d.%d" % sys.version_info[:2])' 2> /dev/null < /dev/null)
if [ -z "$PYTHON" ]; then
    en="there is none here; install it, or name the one to use: make PYTHON=python3.12 lab"
    zh="这里没有找到；请先安装，或者指明用哪一个：make PYTHON=python3.12 lab"
elif [ "$version" = "${version#Python }" ]; then
    en="PYTHON=$PYTHON is no Python"
    zh="PYTHON=$PYTHON 不是 Python"
else
    en="PYTHON=$PYTHON is $version"
    zh="PYTHON=$PYTHON 是 $version"
fi
if [ "$READ" = zh ]; then
    printf '%s\n' "Blocklab 需要 Python 3.11 或更高版本：$zh" >&2
else
    printf '%s\n' "Blocklab wants Python 3.11 or newer: $en" >&2
fi
exit 1
