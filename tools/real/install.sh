#!/bin/sh
# Installs public releases of the real server and the real SDKs, unmodified, each in a folder of its own that git ignores
# (.real/NAME), for `make real`. Needs Python 3.11 with pip, for the TypeScript SDK Node 20 with npm, and the registries that
# these are set up for. What is installed is pinned by hash, in NAME.txt or NAME/package-lock.json beside this script.
#
# usage: tools/real/install.sh [NAME…]      (default: everything that is pinned here)
#
# A folder that a stamp says was installed from the same pins is left alone, so a second run costs nothing and needs no
# network. Exit codes: 0 all are there, 1 an installation failed, 2 wrong use, 3 something that is needed on this machine
# is missing.
set -eu

pins=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
root=$(CDPATH='' cd -- "$pins/../.." && pwd)

missing() { echo "tools/real: missing: $*" >&2; exit 3; }

# pip_install NAME DIR: the packages of NAME.txt.
pip_install() {
    compile=--no-compile # nothing of a runtime is imported
    case $1 in sdk-*) compile=--compile ;; esac
    "$python" -m pip install --quiet --disable-pip-version-check --no-input $compile \
        --no-deps --require-hashes --only-binary=:all: --target "$2" -r "$pins/$1.txt"
}

# npm_install NAME DIR: the packages of NAME/package-lock.json. Some of their peers are not published, and are types alone.
npm_install() {
    mkdir -p "$2"
    cp "$pins/$1/package.json" "$pins/$1/package-lock.json" "$2"
    npm --prefix "$2" ci --silent --ignore-scripts --legacy-peer-deps --no-audit --no-fund
}

# server NAME DIR: one name for the runtime on every platform, so that a target file can say it. The executable carries its
# platform in its name, and has a helper with a longer one beside it.
server() {
    for exe in "$2"/deepseek_harness_runtime/runtime/*-linux-* "$2"/deepseek_harness_runtime/runtime/*-macos-*; do
        case $exe in
            *-rg | *-spawn-helper | *'*'*) ;;
            *) ln -s "${exe#"$2"/}" "$2/server" ;;
        esac
    done
    [ -x "$2/server" ] || { echo "tools/real: $1 has no executable for this platform" >&2; exit 1; }
}

# made_of NAME: what a folder is made of, for its stamp. Wheels of the SDK's dependencies are those of one Python.
made_of() {
    case $1 in
        runtime-*) cat "$pins/$1.txt" ;;
        sdk-python-*) cat "$pins/$1.txt" "$pins/pydantic.txt" && "$python" -VV ;;
        sdk-typescript-*) cat "$pins/$1/package-lock.json" ;;
    esac
}

if [ $# -eq 0 ]; then
    for pinned in "$pins"/runtime-* "$pins"/sdk-*; do
        name=${pinned##*/}
        set -- "$@" "${name%.txt}"
    done
fi

for name in "$@"; do
    case $name in
        runtime-* | sdk-python-*)
            [ -f "$pins/$name.txt" ] || { echo "tools/real: no pinned release $name" >&2; exit 2; }
            python=$("$pins/python.sh")
            install=pip_install
            ;;
        sdk-typescript-*)
            [ -d "$pins/$name" ] || { echo "tools/real: no pinned release $name" >&2; exit 2; }
            node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' 2>/dev/null \
                || missing "Node 20 or later: install it"
            command -v npm >/dev/null 2>&1 || missing "npm: install it, it comes with Node"
            install=npm_install
            ;;
        *) echo "tools/real: no pinned release $name" >&2; exit 2 ;;
    esac

    dir=$root/.real/$name
    stamp=$(made_of "$name")
    if [ "$stamp" = "$(cat "$dir/.installed" 2>/dev/null)" ]; then
        echo "$name: installed"
        continue
    fi

    # Into a folder beside the last one and renamed when whole: an interrupted run leaves nothing that looks installed.
    new=$root/.real/new-$name.$$
    log=$root/.real/$name.log
    trap 'rm -rf "$new"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
    mkdir -p "$root/.real"
    if ! $install "$name" "$new" >"$log" 2>&1; then
        sed 's/^/    /' "$log" >&2
        echo "tools/real: $name could not be installed for $(uname -s) $(uname -m): the words of ${install%_install} are above" >&2
        exit 1
    fi
    rm -f "$log"
    case $name in runtime-*) server "$name" "$new" ;; esac
    printf '%s\n' "$stamp" >"$new/.installed"
    rm -rf "$dir"
    mv "$new" "$dir"
    echo "$name: installed into .real/$name"
done
