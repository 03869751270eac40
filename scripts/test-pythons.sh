#!/bin/sh
# Runs the tests whose answers must be the same to the byte whatever the interpreter (golden matches, digests, the
# chance stream, the wire) on every supported Python this machine has: those on PATH and those pyenv keeps.
# Arguments go to pytest; `-k ""` as the last of them runs every test of the folders below.
#
# Each interpreter gets an environment of its own in .venvs/, from the same lock.
# Exit codes: 0 all passed; 1 some failed; 2 none of the supported versions was found.
set -eu
cd "$(dirname "$0")/.."

# One source of truth for what is supported: the classifiers.
versions=$(sed -n 's/.*"Programming Language :: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)

works() { [ "$("$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)" = "$2" ]; }

find_python() { # find_python VERSION: prints an interpreter of that version, or nothing
    if works "python$1" "$1"; then
        echo "python$1"
    elif command -v pyenv >/dev/null 2>&1; then
        for python in "$(pyenv root)/versions/$1".*/bin/python; do
            if works "$python" "$1"; then echo "$python"; return; fi
        done
    fi
}

exact='golden or digest or chance or canonical or codec or framing or conformance'
tested= failed= missing=
for version in $versions; do
    python=$(find_python "$version")
    if [ -z "$python" ]; then
        missing="$missing $version"
        continue
    fi
    echo "== Python $version ($python)"
    VENV=.venvs/$version PYTHON=$python scripts/bootstrap.sh
    if ".venvs/$version/bin/pytest" -n auto -p no:cacheprovider -k "$exact" \
        tests/games tests/match tests/runner tests/warpline "$@"; then
        tested="$tested $version"
    else
        failed="$failed $version"
    fi
done

echo "passed:${tested:- none}; failed:${failed:- none}; not found here:${missing:- none}"
[ -z "$failed" ] || exit 1
[ -n "$tested" ] || exit 2
