"""The system-call filter, executed instruction by instruction as the kernel would."""

from __future__ import annotations

import errno
import struct

import pytest

from warpleague.runner import seccomp

MACHINES = list(seccomp.AUDIT_ARCH)
READ = {"x86_64": 0, "aarch64": 63}
CLONE_VM_AND_THREAD = 0x3D0F00
CLONE_NEWUSER = 0x10000000
AF_VSOCK = 40
AF_ALG = 38


def verdict(machine: str, number: int, *args: int, arch: int | None = None) -> int:
    """What the filter for `machine` says to a system call."""
    data = struct.pack("<IIQ6Q", number, arch or seccomp.AUDIT_ARCH[machine], 0, *(*args, *[0] * 6)[:6])
    program = list(struct.iter_unpack("<HBBI", seccomp.build(machine)))
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


@pytest.mark.parametrize("machine", MACHINES)
def test_refuses_what_is_listed_and_nothing_else(machine: str) -> None:
    """Each listed call fails with its error; all other numbers pass."""
    column = MACHINES.index(machine)
    expected = {}
    for calls, error in ((seccomp.REFUSED, errno.EPERM), (seccomp.UNKNOWN, errno.ENOSYS)):
        for numbers in calls.values():
            if numbers[column] is not None:
                expected[numbers[column]] = seccomp.refused(error)
    for pair in (seccomp.SOCKET, seccomp.SOCKETPAIR):
        expected[pair[column]] = seccomp.refused(errno.EAFNOSUPPORT)  # of family 0
    for number in range(600):
        assert verdict(machine, number) == expected.get(number, seccomp.ALLOW), number
    assert verdict(machine, READ[machine]) == seccomp.ALLOW


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
    assert verdict("x86_64", seccomp.X32_BIT | 1) == seccomp.refused(errno.ENOSYS)
