#!/bin/sh
# Prints the Python that installs and runs what is real: 3.11 or later, with pip. PYTHON names another than the first that is
# found. Exit code 3 where there is none.
for candidate in ${PYTHON:-python3.11 python3 python3.12 python3.13 python3.14}; do
    "$candidate" -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
    echo "$candidate"
    exit
done
echo "tools/real: missing: Python 3.11 or later with pip: install it, or name one in PYTHON" >&2
exit 3
