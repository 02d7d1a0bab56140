#!/bin/sh
# Judges the public releases of the real server, unmodified, each as its target file in fixtures/targets describes it and
# with the failures that are known of it (fixtures/baselines), and prints them side by side. `make real` calls it.
#
# usage: tools/judge-real.sh [NAME…]     (default: every fixtures/targets/runtime-*.yaml)
#
# The reports stay in reports-out/real/NAME. Exit codes: 0 all as expected, 1 one was not, 3 something that is needed on
# this machine is missing, or a release could not be run.
set -u

cd "$(dirname -- "$0")/.." || exit 1
program=bin/dshconform
out=reports-out/real

if [ $# -eq 0 ]; then
    for file in fixtures/targets/runtime-*.yaml; do
        name=${file##*/}
        set -- "$@" "${name%.yaml}"
    done
fi

versions=
for name in "$@"; do versions="$versions ${name#runtime-}"; done
# shellcheck disable=SC2086 # versions are words
tools/real/install.sh $versions || exit $?

worst=0
results=
for name in "$@"; do
    set -- --target "fixtures/targets/$name.yaml" --profile receipt --report "$out/$name"
    [ -f "fixtures/baselines/$name.yaml" ] && set -- "$@" --baseline "fixtures/baselines/$name.yaml"
    echo
    $program server "$@"
    code=$?
    [ $code -eq 130 ] && exit 130
    [ $code -gt $worst ] && worst=$code
    results="$results $out/$name"
done

echo
# shellcheck disable=SC2086 # paths without blanks
$program report --format text $results || exit 1
exit $worst
