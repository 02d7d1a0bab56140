#!/bin/sh
# Judges the reference clients of the directional profile, in Go, Python and TypeScript, against every requirement on a client,
# and compares what their callers see. `make parity` calls it.
#
# Python and TypeScript are to agree in everything; what Go's types can't hold is in fixtures/baselines/parity-reference.yaml,
# with its reasons. The reports stay in reports-out/parity. DSHCONFORM names another program. Exit codes: 0 every requirement
# holds on each, and there is no difference that is not known; 1 it is not so; 3 something that is needed on this machine is
# missing.
set -u

cd "$(dirname -- "$0")/.." || exit 1
program=${DSHCONFORM:-bin/dshconform}
out=reports-out/parity
missing() {
    echo "tools/parity: missing: $1" >&2
    exit 3
}

python=
for candidate in ${PYTHON:-python3.11 python3 python3.12 python3.13 python3.14}; do
    "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    python=$candidate
    break
done
[ -n "$python" ] || missing "Python 3.11 or later: install it, or name one in PYTHON"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' 2>/dev/null || missing "Node 20 or later: install it"
fixtures/typescript/test.sh build || missing "the TypeScript endpoints can't be built, see above"

worst=0
noted() {
    [ "$1" -eq 130 ] && exit 130
    [ "$1" -gt $worst ] && worst=$1
}

go="$program refclient"
py="$python fixtures/python/driver.py"
ts="node fixtures/typescript/dist/driver.js"
for client in go py ts; do
    case $client in
        go) driver=$go ;;
        py) driver=$py ;;
        *) driver=$ts ;;
    esac
    $program client --driver "$driver" --report "$out/$client"
    noted $?
    echo
done
$program parity --client go="$go" --client py="$py" --client ts="$ts" --report "$out/all" \
    --baseline fixtures/baselines/parity-reference.yaml
noted $?
exit $worst
