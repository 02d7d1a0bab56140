#!/bin/sh
# Judges public releases of the real server and the real SDKs, unmodified, with the failures that are known of each
# (fixtures/baselines), and prints them side by side. Servers are judged as their target files in fixtures/targets describe
# them, SDKs through the drivers in fixtures/python/real and fixtures/typescript/real, the high-level layer and the low-level
# one. Then come what callers of all SDKs see in each layer, compared (fixtures/baselines/parity-sdk-*.yaml has the differences
# that are known), a session of the newest of both through the tap, and every SDK with every server. `make real` calls it.
#
# usage: tools/judge-real.sh [NAME…]     (default: everything that tools/real installs; DSHCONFORM names another program)
#
# The reports stay in reports-out/real. Exit codes: 0 all as expected, 1 one was not, 3 something that is needed on this
# machine is missing, or a release could not be run.
set -u

cd "$(dirname -- "$0")/.." || exit 1
program=${DSHCONFORM:-bin/dshconform}
out=reports-out/real
newest=0.2.1rc2

all=
if [ $# -eq 0 ]; then
    all=yes
    for pinned in tools/real/runtime-* tools/real/sdk-*; do
        name=${pinned##*/}
        set -- "$@" "${name%.txt}"
    done
fi
python=$(tools/real/python.sh) || exit $?
tools/real/install.sh "$@" || exit $?

worst=0
servers=
sdks=
reports=

# noted CODE: keeps the worst exit code. An interrupt ends everything.
noted() {
    [ "$1" -eq 130 ] && exit 130
    [ "$1" -gt $worst ] && worst=$1
}

# judge REPORT BASELINE COMMAND…: the baseline is named for the subject, and may be for one layer of it alone.
judge() {
    report=$out/$1 subject=$2
    shift 2
    for baseline in "fixtures/baselines/$subject.yaml" "fixtures/baselines/${subject%-*}.yaml"; do
        [ -f "$baseline" ] || continue
        set -- "$@" --baseline "$baseline"
        break
    done
    echo
    $program "$@" --profile receipt --report "$report"
}

# driver NAME LAYER prints the command line of an SDK's driver.
driver() {
    case $1 in
        sdk-python-*) echo "$python fixtures/python/real/sdk_driver.py --sdk .real/$1 --layer $2" ;;
        *) echo "node fixtures/typescript/real/sdk-driver.mjs --sdk .real/$1 --layer $2" ;;
    esac
}

# client LAYER NAME judges one SDK.
client() {
    sdk=${2#sdk-}
    judge "$2-$1" "sdk-${sdk%%-*}-$1" client --driver "$(driver "$2" "$1")"
}

# parity LAYER NAME… compares SDKs, and shows the differences that are known too.
parity() {
    layer=$1 whole=$out/parity-$1-whole.txt
    shift
    for name in "$@"; do
        shift
        set -- "$@" --client "${name#sdk-}=$(driver "$name" "$layer")"
    done
    $program parity "$@" --profile receipt --verbose --report "$out/parity-$layer" \
        --baseline "fixtures/baselines/parity-sdk-$layer.yaml" >"$whole" 2>&1
    code=$?
    echo
    grep -Ev '^(seen|observed|n/a|not applicable) ' "$whole" # what no SDK does otherwise
    return $code
}

# layers NAME COMMAND… runs the command with each layer, both at once: most of the time goes into waiting for an SDK that
# hangs.
layers() {
    said=$out/$1-low.txt command=$2
    shift 2
    mkdir -p $out
    $command low "$@" >"$said" 2>&1 &
    $command high "$@"
    noted $?
    wait $!
    code=$?
    cat "$said"
    noted $code
}

for name in "$@"; do
    case $name in
        runtime-*)
            judge "$name" "$name" server --target "fixtures/targets/$name.yaml"
            noted $?
            servers="$servers $out/$name"
            ;;
        *) sdks="$sdks $name" ;;
    esac
done

# SDKs are compared while they are judged, which is waiting too.
if [ -n "$all" ]; then
    mkdir -p $out
    # shellcheck disable=SC2086 # names without blanks
    (
        layers parity parity $sdks
        exit $worst
    ) >$out/parity.txt 2>&1 &
    comparing=$!
fi
for name in $sdks; do
    layers "$name" client "$name"
    reports="$reports $out/$name-high $out/$name-low"
done

for results in "$servers" "$reports"; do
    [ -n "$results" ] || continue
    echo
    # shellcheck disable=SC2086 # paths without blanks
    $program report --format text $results || exit 1
done

if [ -n "$all" ]; then
    wait $comparing
    code=$?
    cat $out/parity.txt
    noted $code
    echo
    "$python" tools/real/session.py --program "$program" --sdk .real/sdk-python-$newest \
        --server .real/runtime-$newest/server --baseline fixtures/baselines/runtime-$newest.yaml --out $out/session
    noted $?
    echo
    $program interop --file fixtures/interop/public.yaml --report $out/interop
    noted $?
fi
exit $worst
