#!/bin/sh
# Installs the public releases of the real runtime, each in a folder of its own that git ignores
# (.real/runtime-VERSION), for `make real`. Needs python3 with pip, and the package index that pip is
# set up for. What is installed is pinned by hash in runtime-VERSION.txt beside this script.
#
# usage: tools/real/install.sh [VERSION…]      (default: every release that has a runtime-VERSION.txt)
#
# A folder that a stamp says was installed from the same pins is left alone, so a second run costs
# nothing and needs no network. Exit codes: 0 all are there, 1 an installation failed, 2 wrong use,
# 3 something that is needed on this machine is missing.
set -eu

pins=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$pins/../.." && pwd)
python=${PYTHON:-python3}

missing() { echo "tools/real: missing: $*" >&2; exit 3; }

if [ $# -eq 0 ]; then
    for file in "$pins"/runtime-*.txt; do
        version=${file##*/runtime-}
        set -- "$@" "${version%.txt}"
    done
fi

for version in "$@"; do
    file=$pins/runtime-$version.txt
    [ -f "$file" ] || { echo "tools/real: no pinned release $version" >&2; exit 2; }
    dir=$root/.real/runtime-$version
    stamp=$dir/.installed
    if cmp -s "$file" "$stamp"; then
        echo "runtime $version: installed"
        continue
    fi

    command -v "$python" >/dev/null 2>&1 || missing "$python (with pip): install it, or name one in PYTHON"
    "$python" -m pip --version >/dev/null 2>&1 || missing "pip for $python: try '$python -m ensurepip'"

    # Into a folder beside the last one and renamed when whole: an interrupted run leaves nothing
    # that looks installed. Compiling bytecode is left out, nothing here is imported.
    new=$root/.real/new-$version.$$
    trap 'rm -rf "$new"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    mkdir -p "$root/.real"
    if ! "$python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile \
        --no-deps --require-hashes --only-binary=:all: --target "$new" -r "$file" >"$root/.real/pip-$version.log" 2>&1
    then
        sed 's/^/    /' "$root/.real/pip-$version.log" >&2
        echo "tools/real: runtime $version could not be installed for $(uname -s) $(uname -m): pip's words are above" >&2
        exit 1
    fi
    rm -f "$root/.real/pip-$version.log"

    # One name on every platform, so that a target file can say it: the executable carries its
    # platform in its name and has a helper with a longer one beside it.
    for exe in "$new"/deepseek_harness_runtime/runtime/*-linux-* "$new"/deepseek_harness_runtime/runtime/*-macos-*; do
        case $exe in
            *-rg | *-spawn-helper | *'*'*) ;;
            *) ln -s "${exe#"$new"/}" "$new/server" ;;
        esac
    done
    [ -x "$new/server" ] || { echo "tools/real: runtime $version has no executable for this platform" >&2; exit 1; }
    cp "$file" "$new/.installed"
    rm -rf "$dir"
    mv "$new" "$dir"
    echo "runtime $version: installed into .real/runtime-$version"
done
