#!/bin/bash
# Runs `make demo` and `make test` as on a new user's machine: in a Debian that holds nothing but python3, git, make
# and what every Debian brings, as an ordinary user, from a fresh clone of what is committed.
#
#   scripts/bare.sh [SUITE [TARGET]]   the Debian to make, by the name of its release (default: bookworm, which is Debian
#                                      12), and the tests to run there (default: test)
#   BARE=FOLDER                        make it in this folder and keep it there for the next run (default: one that goes)
#
# debootstrap makes the Debian, from where this machine's own apt gets its packages; this machine's pip downloads what
# the lock names, so that the Debian's needs no settings. Needs root.
# Exit codes: 0 both passed; 1 one of them failed; 3 not run on this machine, and one line says why.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 3

suite=${1:-bookworm}
target=${2:-test}
user=player
uid=4321
pip_python=.venv/bin/python
[ -x $pip_python ] || pip_python=python3

not_run() {
    echo "bare: not run: $*" >&2
    exit 3
}

# The mounts below are seen by this script alone, and are gone when it ends: nothing has to be unmounted.
if [ -z "${BARE_ALONE:-}" ]; then
    [ "$(id -u)" = 0 ] || not_run "it needs root"
    command -v debootstrap >/dev/null || not_run "debootstrap is not installed"
    unshare --mount --propagation private true 2>/dev/null || not_run "this machine lets nobody mount anything"
    BARE_ALONE=yes exec unshare --mount --propagation private "$PWD/scripts/bare.sh" "$@"
fi

log=$(mktemp)
folder=${BARE:-$(mktemp -d)}
end() {
    # The clone and what was built in it go in any case; mounts first, so that nothing but the Debian is removed.
    umount -R "$folder" 2>/dev/null
    if mountpoint -q "$folder/proc" || mountpoint -q "$folder/dev"; then return; fi
    if [ -n "${BARE:-}" ]; then rm -rf "$folder/home/$user"; else rm -rf --one-file-system "$folder"; fi
    rm -f "$log"
}
trap end EXIT

mirror() { # where this machine's apt gets Debian itself
    apt-get indextargets --format '$(ORIGIN) $(COMPONENT) $(RELEASE) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk '$1 == "Debian" && $2 == "main" && $3 !~ /-/ { print $4; exit }'
}

make_debian() { # false when there is no mirror, or it does not have this Debian
    from=$(mirror)
    if [ -z "$from" ]; then
        echo "apt knows no mirror of Debian" >"$log"
        return 1
    fi
    # What debootstrap downloads with knows proxies by the environment only.
    set -o allexport
    eval "$(apt-config shell http_proxy Acquire::http::Proxy https_proxy Acquire::https::Proxy)"
    set +o allexport
    timeout 900 debootstrap --variant=minbase --include=python3,git,make "$suite" "$folder" "$from" >"$log" 2>&1
}

set_up() { # gives the Debian an ordinary user, a clone, and what it cannot get by itself
    # A mount of its own can become the root of what runs inside.
    mount --bind "$folder" "$folder" && mount --bind /proc "$folder/proc" && mount --rbind /dev "$folder/dev" || return 1
    cp -L /etc/resolv.conf /etc/hosts "$folder/etc/" || return 1
    apt-config dump | grep -E '^Acquire::(https?|Check-[A-Za-z-]+|Retries)[: ]' >"$folder/etc/apt/apt.conf.d/80machine"
    mkdir -p "$folder/etc/ssl/certs" && cp -rLf /etc/ssl/certs/. "$folder/etc/ssl/certs/"
    chroot "$folder" id $user >/dev/null 2>&1 || chroot "$folder" useradd -u $uid --shell /bin/bash $user || return 1
    rm -rf "$folder/home/$user"
    install -d -m 755 "$folder/home/$user" "$folder/wheels"
    # Continuous integration may run as another user than the one who cloned.
    git -c safe.directory='*' clone -q --no-hardlinks . "$folder/home/$user/clone" &&
        chown -R $uid:$uid "$folder/home/$user"
}

download() { # what the lock names, for the Python in the Debian, by this machine's pip with its settings and its cache
    version=$(chroot "$folder" python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])') &&
        "$pip_python" -m pip download -q --disable-pip-version-check --dest "$folder/wheels" --no-deps --require-hashes \
            --only-binary=:all: --python-version "$version" -r requirements/dev.lock
}

# The kernel makes no user namespaces, and so no sandboxes, for a process whose root is not that of its mounts, as after
# `chroot`: so the Debian becomes the root of a mount namespace.
inside() { # inside ID COMMAND...: runs it in the clone, as the user of this number, in an environment of its own
    local id=$1
    shift
    # shellcheck disable=SC2016 # the arguments are those of the shell inside
    unshare --mount --propagation private sh -c '
        cd "$1" && pivot_root . . && umount -l . && cd / && shift && exec "$@"' sh "$folder" \
        setpriv --reuid "$id" --regid "$id" --clear-groups \
        /usr/bin/env -i HOME="/home/$user" LANG=C.UTF-8 CI="${CI:-}" \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin PIP_NO_INDEX=1 PIP_FIND_LINKS=/wheels \
        bash -c "cd /home/$user/clone && exec \"\$@\"" - "$@"
}

timed() { # timed COMMAND...: runs it as the user, and tells how long it took
    local TIMEFORMAT="bare: $suite: $*: %0R s; processor: %0U s in programs, %0S s in the kernel"
    time inside $uid "$@"
}

if [ ! -e "$folder/etc/debian_version" ]; then
    echo "bare: making a bare $suite"
    mkdir -p "$folder" && chmod 755 "$folder" # mktemp lets nobody else in
    make_debian || not_run "no bare $suite can be made here: $(tail -n 1 "$log")"
fi
set_up 2>"$log" || not_run "the bare $suite cannot be set up: $(tail -n 1 "$log")"
download 2>"$log" || not_run "pip cannot download what the bare $suite needs: $(tail -n 1 "$log")"

# Debian's python3 cannot make environments. What to do about it, the first command of a new user must tell.
if ! inside $uid make program 2>"$log"; then
    package=$(grep -oE 'python3\.[0-9]+-venv' "$log" | head -n 1)
    if [ -z "$package" ]; then
        cat "$log" >&2
        exit 1
    fi
    echo "bare: $suite: make says what is missing, and root installs it: $package"
    {
        inside 0 apt-get update -qq &&
            inside 0 env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package"
    } >"$log" 2>&1 || not_run "the bare $suite cannot install $package: $(tail -n 1 "$log")"
fi

status=0
timed make demo || status=1
timed make "$target" || status=1
exit $status
