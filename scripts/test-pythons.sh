#!/bin/sh
# Runs tests on the supported Pythons that this machine has: those on PATH and those pyenv keeps.
#
#   scripts/test-pythons.sh [PYTEST ARGUMENTS]          on every one, the tests whose answers must be the same to the
#                                                       byte: golden matches, digests, the chance stream, the wire
#   scripts/test-pythons.sh --ends [PYTEST ARGUMENTS]   on the oldest and the newest one, the tests that are named; the
#                                                       Python of .venv is left to `make test`
#
# Each interpreter gets an environment of its own in .venvs/, from the same lock. The last line tells which were run.
# Exit codes: 0 all passed; 1 some failed; 2 none of the supported versions was found.
set -eu
cd "$(dirname "$0")/.."

# One source of truth for what is supported: the classifiers, the oldest first.
versions=$(sed -n 's/.*"Programming Language :: Python :: \(3\.[0-9]*\)".*/\1/p' pyproject.toml)

minor() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

find_python() { # find_python VERSION: prints an interpreter of that version, or nothing
    if [ "$(minor "python$1")" = "$1" ]; then
        echo "python$1"
    elif command -v pyenv >/dev/null 2>&1; then
        for python in "$(pyenv root)/versions/$1".*/bin/python; do
            if [ "$(minor "$python")" = "$1" ]; then echo "$python"; return; fi
        done
    fi
}

found= missing=
for version in $versions; do
    if [ -n "$(find_python "$version")" ]; then found="$found $version"; else missing="$missing $version"; fi
done

what="exact tests" own=
wanted=$found
if [ "${1:-}" = --ends ]; then
    shift
    what="tests" own=$(minor .venv/bin/python || true)
    wanted=$(printf '%s\n' $found | sed -n '1p;$p' | uniq | grep -vx "$own" || true)
else
    set -- -k 'golden or digest or chance or canonical or codec or framing or conformance' \
        tests/games tests/match tests/runner tests/warpline "$@"
fi

passed= failed=
for version in $wanted; do
    python=$(find_python "$version")
    echo "== Python $version ($python): $what"
    if VENV=.venvs/$version PYTHON=$python scripts/bootstrap.sh &&
        ".venvs/$version/bin/pytest" -n auto -p no:cacheprovider "$@"; then
        passed="$passed $version"
    else
        failed="$failed $version"
    fi
done

between=$(for version in $found; do echo "$version"; done | grep -vxF "$(printf '%s\n' $wanted $own)" | tr '\n' ' ' || true)
told="passed:${passed:- none}; failed:${failed:- none}"
told="$told${own:+; left to make test: $own}${between:+; not run: ${between% }}${missing:+; not found here:$missing}"
echo "$what on Python: $told"
[ -z "$failed" ] || exit 1
[ -n "$found" ] || exit 2
