#!/bin/sh
# Makes a virtual environment that holds exactly what a lock file names; returns at once when it already does.
#
#   PYTHON  the interpreter to build on, if the environment is not there yet (default: the first fitting on PATH)
#   VENV    where the environment goes (default: .venv)
#   LOCK    what to install, every package by hash (default: requirements/dev.lock)
#   APT     "no" forbids installing Debian's venv package when the interpreter cannot make environments
#
# requirements/checkout.lock names what the program needs to run, a quarter of what its development needs. An environment
# of the default lock has all of it, and one that was made for the program alone becomes one of the default lock in place.
# With these two locks, and that of the bridges, the project itself is installed too, editable and by the locked build
# backend.
# Exit codes: 0 the environment is ready; 1 an installation failed; 2 something is missing on this machine.
set -eu
cd "$(dirname "$0")/.."

VENV=${VENV:-.venv}
LOCK=${LOCK:-requirements/dev.lock}
oldest=11 newest=14 # the minor versions of Python 3 that the locks are made and tested for
stamp=$VENV/.bootstrapped

say() { printf 'bootstrap: %s\n' "$*" >&2; }
die() { say "$@"; exit 2; }

# The stamp is the very text the environment was made from, with its place: environments cannot be moved.
inputs() { pwd -P; echo "$VENV"; cat "$1" pyproject.toml scripts/bootstrap.sh; }
made_from() { [ -x "$VENV/bin/python" ] && [ -f "$stamp" ] && inputs "$1" | cmp -s - "$stamp"; }
if made_from "$LOCK"; then exit 0; fi
if [ "$LOCK" = requirements/checkout.lock ] && made_from requirements/dev.lock; then exit 0; fi

runs() { "$1" -c "$2" >/dev/null 2>&1; } # also tells a pyenv shim without a version behind it
fits="import sys; sys.exit(not (3, $oldest) <= sys.version_info[:2] <= (3, $newest))"
new_enough="import sys; sys.exit(sys.version_info[:2] < (3, $oldest))"
has_venv='import ensurepip, venv'

first() { # first TEST...: the first interpreter on PATH that passes all tests
    for candidate in python3 python3.14 python3.13 python3.12 python3.11; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        passed=yes
        for test in "$@"; do runs "$candidate" "$test" || passed=no; done
        [ $passed = no ] || { echo "$candidate"; return; }
    done
}

if [ -n "${PYTHON:-}" ]; then
    runs "$PYTHON" "$new_enough" || die "PYTHON=$PYTHON is not a working Python 3.$oldest or newer"
    python=$PYTHON
else
    python=$(first "$fits" "$has_venv")
    [ -n "$python" ] || python=$(first "$fits")
    [ -n "$python" ] || python=$(first "$new_enough")
    [ -n "$python" ] || die "no Python 3.$oldest or newer found: install python3 (3.$oldest to 3.$newest)," \
        "or name one: PYTHON=/path/to/python3 make ..."
fi
runs "$python" "$fits" || say "note: $python is newer than 3.$newest, which the locks are not tested for"

# Debian keeps the part of Python that fills a new environment with pip in a package of its own.
install_debian_venv() {
    [ "${APT:-}" != no ] && command -v apt-get >/dev/null 2>&1 || return 1
    as_root=
    if [ "$(id -u)" != 0 ]; then
        sudo -n true 2>/dev/null || return 1
        as_root='sudo -n'
    fi
    say "installing the Debian package $venv_package (APT=no forbids this)"
    $as_root apt-get update -qq </dev/null >/dev/null &&
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -qq --no-install-recommends "$venv_package" </dev/null >/dev/null
}

make_venv() {
    rm -rf "$VENV"
    venv_package=$("$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])')
    if runs "$python" "$has_venv" || { install_debian_venv && runs "$python" "$has_venv"; }; then
        "$python" -m venv "$VENV"
    elif runs "$python" 'import virtualenv'; then
        "$python" -m virtualenv -q "$VENV"
    elif runs "$python" 'import pip, venv'; then
        "$python" -m venv --without-pip "$VENV"
    else
        die "$python cannot make virtual environments: install $venv_package" \
            "(on Debian or Ubuntu, as root: apt-get install $venv_package), then run this again"
    fi
}

# An environment that is there is kept if its interpreter runs, something can install into it (an interrupted
# bootstrap may have left it without pip) and it was made in this place.
kept() {
    runs "$VENV/bin/python" "$new_enough" || return 1
    runs "$VENV/bin/python" 'import pip' || runs "$python" 'import pip' || return 1
    [ ! -f "$stamp" ] || [ "$(head -n 1 "$stamp")" = "$(pwd -P)" ]
}

if ! kept; then
    say "making $VENV with $("$python" --version 2>&1) ($python)"
    make_venv
fi

if runs "$VENV/bin/python" 'import pip'; then
    pip() { "$VENV/bin/python" -m pip --disable-pip-version-check --no-input "$@"; }
else
    pip() { "$python" -m pip --python "$VENV/bin/python" --disable-pip-version-check --no-input "$@"; }
fi

case $LOCK in # sizes on the disk, with pip and what it compiles
requirements/checkout.lock) purpose=' (about 140 MB in all): what the program needs to run' ;;
requirements/dev.lock) purpose=' (about 620 MB in all): what the program, its tests and its checks need' ;;
*) purpose= ;;
esac
say "installing $(grep -c '==' "$LOCK") packages into $VENV$purpose"
# Only wheels: a source package would pull in a build backend that no lock names.
pip install -q --require-hashes --only-binary=:all: -r "$LOCK" </dev/null >&2
case $LOCK in requirements/checkout.lock | requirements/dev.lock | requirements/bridges.lock)
    pip install -q --no-index --no-deps --no-build-isolation -e . </dev/null >&2
    # Bots write nothing, so each start of one would compile the client again.
    "$VENV/bin/python" -m compileall -q protocol
    ;;
esac
inputs "$LOCK" >"$stamp"
