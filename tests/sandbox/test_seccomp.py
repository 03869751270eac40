"""The system-call filter, executed instruction by instruction as the kernel would."""

import errno
import struct

import pytest

from warpleague.runner.confine import seccomp

MACHINES = list(seccomp.AUDIT_ARCH)
READ = {"x86_64": 0, "aarch64": 63}
CLONE_VM_AND_THREAD = 0x3D0F00
CLONE_NEWUSER = 0x10000000
GET_ES_CACHE, GETSTATE, F_SETPIPE_SZ = 0xC020662A, 0x40046629, 1031
AF_VSOCK = 40
AF_ALG = 38
X32_BIT = 0x40000000
LAST_OWN = {"x86_64": 334, "aarch64": 294}
LEASES_AND_WATCHES = (1024, 1025, 1026)
HINTS = (1035, 1036, 1037, 1038)
F_DUPFD_CLOEXEC, F_GETPIPE_SZ = 1030, 1032
OFD_LOCKS = (36, 37, 38)
MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE = 20, 21, 25
RWF_NOWAIT, RWF_DONTCACHE = 8, 0x80


def verdict(machine: str, number: int, *args: int, arch: int | None = None, building: bool = False) -> int:
    """What the filter for `machine` says to a system call."""
    data = struct.pack("<IIQ6Q", number, arch or seccomp.AUDIT_ARCH[machine], 0, *(*args, *[0] * 6)[:6])
    program = list(struct.iter_unpack("<HBBI", seccomp.build(machine, building=building)))
    at, loaded = 0, 0
    while True:
        code, if_true, if_false, value = program[at]
        at += 1
        match code:
            case 0x20:
                loaded = struct.unpack_from("<I", data, value)[0]
            case 0x06:
                return value
            case 0x15 | 0x35 | 0x45:
                test = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
                at += if_true if test else if_false
            case _:
                raise AssertionError(f"instruction {code:#x}")


def number(machine: str, pair: tuple[int | None, int | None]) -> int:
    """The number on `machine` of a call that it has."""
    found = pair[MACHINES.index(machine)]
    assert found is not None
    return found


@pytest.mark.parametrize("building", [False, True])
@pytest.mark.parametrize("machine", MACHINES)
def test_refuses_what_is_listed_and_nothing_else(machine: str, building: bool) -> None:
    """Each listed call fails with its error, newer ones do not exist; all other numbers pass."""
    column = MACHINES.index(machine)
    expected = {}
    lists = [(seccomp.REFUSED, errno.EPERM), (seccomp.UNKNOWN, errno.ENOSYS)]
    for calls, error in [*lists, (seccomp.TIMES, 0 if building else errno.EPERM)]:
        for numbers in calls.values():
            if numbers[column] is not None and error:
                expected[numbers[column]] = seccomp.refused(error)
    for pair in (seccomp.SOCKET, seccomp.SOCKETPAIR):
        expected[pair[column]] = seccomp.refused(errno.EAFNOSUPPORT)  # of family 0
    expected[seccomp.IOCTL[column]] = seccomp.refused(errno.ENOTTY)  # number 0
    expected[seccomp.PRCTL[column]] = seccomp.refused(errno.EINVAL)  # option 0
    for call in (*range(LAST_OWN[machine] + 1, 424), *range(seccomp.NEWER, 600)):
        expected[call] = seccomp.refused(errno.ENOSYS)
    for call in range(600):
        assert verdict(machine, call, building=building) == expected.get(call, seccomp.ALLOW), call
    assert verdict(machine, READ[machine]) == seccomp.ALLOW


@pytest.mark.parametrize(
    "name", ["statmount", "listmount", "open_tree_attr", "lsm_set_self_attr", "a new one"]
)
@pytest.mark.parametrize("machine", MACHINES)
def test_knows_no_calls_that_are_newer_than_the_list(machine: str, name: str) -> None:
    """What a later kernel brings does not exist for a bot, whatever it does."""
    call = {"statmount": 457, "listmount": 458, "lsm_set_self_attr": 460, "open_tree_attr": 467}.get(
        name, 5000
    )
    assert verdict(machine, call) == seccomp.refused(errno.ENOSYS)


@pytest.mark.parametrize("machine", MACHINES)
def test_lets_no_mark_be_set_on_a_file_or_in_the_page_cache(machine: str) -> None:
    """Hints, leases and watches of files, and advice about cached pages; what runtimes ask for passes."""
    fcntl, madvise = number(machine, seccomp.FCNTL), number(machine, seccomp.MADVISE)
    for command in (*LEASES_AND_WATCHES, *HINTS, 5000):
        assert verdict(machine, fcntl, 3, command) == seccomp.refused(errno.EINVAL), command
    for command in (*range(17), F_DUPFD_CLOEXEC, F_GETPIPE_SZ, *OFD_LOCKS):
        assert verdict(machine, fcntl, 3, command) == seccomp.ALLOW, command
    for advice in (*range(20), 22, 23, 24):
        assert verdict(machine, madvise, 0, 4096, advice) == seccomp.ALLOW, advice
    for advice in (MADV_COLD, MADV_PAGEOUT, MADV_COLLAPSE, 1 << 32 | MADV_PAGEOUT, 26, 5000):
        assert verdict(machine, madvise, 0, 4096, advice) == seccomp.refused(errno.EINVAL), advice
    preadv2 = number(machine, seccomp.PREADV2)
    assert verdict(machine, preadv2, 3, 0, 1, 0, 0, 0) == seccomp.ALLOW
    for flags in (RWF_NOWAIT, RWF_DONTCACHE, 1):
        assert verdict(machine, preadv2, 3, 0, 1, 0, 0, flags) == seccomp.refused(errno.EOPNOTSUPP)


@pytest.mark.parametrize("machine", MACHINES)
def test_calls_that_are_many_in_one_pass_as_far_as_bots_need_them(machine: str) -> None:
    """What file systems and kernels add to `ioctl`, `prctl`, `fcntl` and `lseek` fails, high bits or not."""
    for pair, at, table, error in (
        (seccomp.IOCTL, 1, seccomp.IOCTLS, errno.ENOTTY),
        (seccomp.FCNTL, 1, seccomp.FCNTLS, errno.EINVAL),
        (seccomp.PRCTL, 0, seccomp.PRCTLS, errno.EINVAL),
        (seccomp.LSEEK, 2, dict(enumerate(seccomp.WHENCE)), errno.EINVAL),
    ):
        needed = set(table.values())
        strange = {*range(70), *(one + 1 for one in needed), GET_ES_CACHE, GETSTATE, F_SETPIPE_SZ, 1 << 31}
        strange -= {*needed, seccomp.TIOCSTI, seccomp.TIOCLINUX}
        for value in (*strange, *needed):
            wanted = seccomp.ALLOW if value in needed else seccomp.refused(error)
            for high in (0, 1 << 32):
                args = [3, 0, 0]
                args[at] = value | high
                assert verdict(machine, number(machine, pair), *args) == wanted, value


@pytest.mark.parametrize("machine", MACHINES)
def test_lets_a_bot_set_its_own_limits_only(machine: str) -> None:
    """No process may set the limits of another one, process 1 of the sandbox among them."""
    prlimit = number(machine, seccomp.PRLIMIT64)
    assert verdict(machine, prlimit, 0) == seccomp.ALLOW
    for pid in (1, 2, 0xFFFFFFFF):
        assert verdict(machine, prlimit, pid) == seccomp.refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_lets_no_bot_give_way(machine: str) -> None:
    """A bot that gave way to all others would wait without being charged: only the usual scheduling is allowed."""
    schedule = number(machine, seccomp.SCHED_SETSCHEDULER)
    assert verdict(machine, schedule, 0, 0) == seccomp.ALLOW
    for policy in (1, 2, 3, 5, 6, 0x40000000):
        assert verdict(machine, schedule, 0, policy) == seccomp.refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_lets_threads_start_but_no_namespaces(machine: str) -> None:
    """A clone is judged by its flags."""
    clone = seccomp.CLONE[MACHINES.index(machine)]
    assert verdict(machine, clone, CLONE_VM_AND_THREAD) == seccomp.ALLOW
    assert verdict(machine, clone, CLONE_NEWUSER | 17) == seccomp.refused(errno.EPERM)


@pytest.mark.parametrize("machine", MACHINES)
def test_refuses_to_push_into_terminals_also_with_high_bits(machine: str) -> None:
    """TIOCSTI is refused whatever is in the half of its number that the kernel ignores."""
    ioctl = seccomp.IOCTL[MACHINES.index(machine)]
    for code in (seccomp.TIOCSTI, seccomp.TIOCLINUX, 1 << 32 | seccomp.TIOCSTI):
        assert verdict(machine, ioctl, 0, code) == seccomp.refused(errno.EPERM)
    assert verdict(machine, ioctl, 0, 0x5401) == seccomp.ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_knows_three_families_of_sockets(machine: str) -> None:
    """A bot may talk with itself, but not through vsock or the kernel's rarer families."""
    for pair in (seccomp.SOCKET, seccomp.SOCKETPAIR):
        number = pair[MACHINES.index(machine)]
        assert [verdict(machine, number, family) for family in seccomp.FAMILIES] == [seccomp.ALLOW] * 3
        for family in (AF_VSOCK, AF_ALG, 16, 17):
            assert verdict(machine, number, family) == seccomp.refused(errno.EAFNOSUPPORT)


def test_lets_no_other_architecture_in() -> None:
    """Calls of a 32-bit program end it; those of the x32 interface do not exist."""
    i386 = 0x40000003
    assert verdict("x86_64", 11, arch=i386) == seccomp.KILL_PROCESS
    assert verdict("aarch64", 11, arch=seccomp.AUDIT_ARCH["x86_64"]) == seccomp.KILL_PROCESS
    assert verdict("x86_64", X32_BIT | 1) == seccomp.refused(errno.ENOSYS)
