"""The system calls that a bot in the sandbox may not make, as a seccomp filter in classic BPF (seccomp(2), Linux).

Bubblewrap loads it.
"""

from __future__ import annotations

import errno
import platform
import struct
import sys
from functools import cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

# Instructions and constants: linux/bpf_common.h, linux/seccomp.h, linux/audit.h.
_LOAD: Final = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL: Final = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST: Final = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT: Final = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN: Final = 0x06  # BPF_RET | BPF_K

ALLOW: Final = 0x7FFF0000
KILL_PROCESS: Final = 0x80000000
_REFUSE: Final = 0x00050000  # SECCOMP_RET_ERRNO, the error number in the low 16 bits
_NR: Final = 0  # offsets in struct seccomp_data
_ARCH: Final = 4
_ARG0: Final = 16
_ARG1: Final = 24
_ARG2: Final = 32
_ARG5: Final = 56

# The machines there is a filter for, with the kernel's number for each.
AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# CLONE_NEWNS, CGROUP, UTS, IPC, USER, PID, NET: what makes a namespace, in the flags of clone(2).
NEW_NAMESPACE: Final = 0x7E020000
TIOCSTI: Final = 0x5412
TIOCLINUX: Final = 0x541C
# The socket families a bot may have, to talk with itself: AF_UNIX, AF_INET, AF_INET6.
FAMILIES: Final = (1, 2, 10)

# Of whole calls it is a deny-list: bots are in any language and version, so whatever an unknown runtime needs must
# still work. Calls that are many in one have an allow-list (`IOCTLS`, `FCNTLS`, `PRCTLS`, `WHENCE`, `LAST_ADVICE`):
# the rest of them differs by file system and grows with each kernel. No bot needs what is on the deny-list, or it is a
# way out, around a limit, into rarely used kernel code, or to a mark that a later bot can find. Bots share a kernel
# with the host, so a hole in the kernel is a hole in the sandbox: the lists make this less likely, not impossible.
# Calls that are newer than the lists do not exist for a bot. Runtimes know such refusals from old kernels or
# containers, and do without the call.

# The numbers of a system call on x86-64 and aarch64, None where there is no such call.
Numbers = tuple[int | None, int | None]

# fmt: off
# Refused with EPERM.
REFUSED: Final[dict[str, Numbers]] = {
    # Other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "get_robust_list": (274, 100),
    # Namespaces and mounts.
    "unshare": (272, 97), "setns": (308, 268), "mount": (165, 40), "umount2": (166, 39),
    "pivot_root": (155, 41), "chroot": (161, 51), "open_tree": (428, 428), "move_mount": (429, 429),
    "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432), "fspick": (433, 433),
    "mount_setattr": (442, 442), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    # Memory that no limit on a process counts.
    "shmget": (29, 194), "msgget": (68, 186), "semget": (64, 190), "mq_open": (240, 180),
    # Keys, watchers and large, rarely used parts of the kernel.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "perf_event_open": (298, 241), "fanotify_init": (300, 262), "lookup_dcookie": (212, 18),
    "nfsservctl": (180, 42), "personality": (135, 92), "vhangup": (153, 58), "syslog": (103, 116),
    "quotactl": (179, 60), "quotactl_fd": (443, 443), "acct": (163, 89),
    # The machine itself.
    "reboot": (169, 142), "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "swapon": (167, 224), "swapoff": (168, 225),
    "settimeofday": (164, 170), "clock_settime": (227, 112), "clock_adjtime": (305, 266), "sync": (162, 81),
    "syncfs": (306, 267), "adjtimex": (159, 171), "sethostname": (170, 161), "setdomainname": (171, 162),
    "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    # Processors and memory nodes other than those the referee shares with its bots.
    "sched_setaffinity": (203, 122), "migrate_pages": (256, 238), "move_pages": (279, 239),
    # Less priority than others: what a bot waits for a processor is not charged, so it must not wait at will.
    "sched_setattr": (314, 274), "setpriority": (141, 140), "ioprio_set": (251, 30),
}

# Refused with ENOSYS, as on a kernel without them: there is another way that runtimes know.
UNKNOWN: Final[dict[str, Numbers]] = {
    "clone3": (435, 435),  # its flags are in memory, where a filter cannot look; libraries fall back to clone
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "io_setup": (206, 0),  # its contexts are counted for the whole machine
    "userfaultfd": (323, 282), "memfd_create": (319, 279), "memfd_secret": (447, 447),
    "process_mrelease": (448, 448),
    # What is in the page cache, and what goes out of it: one bit for each page, which outlives the bot. In trials a
    # bot passed all dice of a match to the next one by which pages of a large file of /usr it had read.
    "mincore": (27, 232), "cachestat": (451, 451), "fadvise64": (221, 223), "readahead": (187, 213),
    # Who else opens and reads the files of the system.
    "inotify_init": (253, None), "inotify_init1": (294, 26),
}

# Refused with EPERM, except to builds: anyone may set the times of the host's /dev/null, and anyone can read them.
TIMES: Final[dict[str, Numbers]] = {
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}
# fmt: on

# From this number on, and in the gap below `_SHARED`, no call exists for a bot: they are newer than this list.
NEWER: Final = 457

_LAST_OWN: Final = (334, 294)
# From here on a call has the same number on every machine; below, each machine has its own up to `_LAST_OWN`.
_SHARED: Final = 424

# Of these calls the filter looks at one argument.
CLONE: Final = (56, 220)
IOCTL: Final = (16, 29)
FCNTL: Final = (72, 25)
MADVISE: Final = (28, 233)
LSEEK: Final = (8, 62)
PRCTL: Final = (157, 167)
PREADV2: Final = (327, 286)
PRLIMIT64: Final = (302, 261)
SCHED_SETSCHEDULER: Final = (144, 119)
SOCKET, SOCKETPAIR = (41, 198), (53, 199)

# What passes of `ioctl`: what the starters of all languages, their compilers, and the usual libraries of Python and
# Java were seen to call (strace). All of it is about a bot's own descriptors or its own network. Not among it is what
# a file system keeps with a file for all to read: in trials a bot passed all dice to later matches by extents that
# `lseek` had put into a cache of ext4, and that EXT4_IOC_GET_ES_CACHE told.
# fmt: off
IOCTLS: Final = {
    "TCGETS": 0x5401, "TCGETS2": 0x802C542A,  # all, to see whether a stream is a terminal
    "TIOCGWINSZ": 0x5413, "TIOCGPGRP": 0x540F,  # shells, JavaScript, OCaml: the same
    "FIOCLEX": 0x5451, "FIONCLEX": 0x5450,  # Python, Nim
    "FIONBIO": 0x5421, "FIONREAD": 0x541B,  # JavaScript, TypeScript, Rust, Python; Java
    # Java and others that use sockets.
    "SIOCGIFNAME": 0x8910, "SIOCGIFCONF": 0x8912, "SIOCGIFFLAGS": 0x8913, "SIOCGIFADDR": 0x8915,
    "SIOCGIFBRDADDR": 0x8919, "SIOCGIFNETMASK": 0x891B, "SIOCGIFMTU": 0x8921, "SIOCGIFHWADDR": 0x8927,
    "SIOCGIFINDEX": 0x8933,
}
# What passes of `fcntl`: no lease, watch, hint, seal or size of a pipe, which is of the user's quota.
FCNTLS: Final = {
    "F_DUPFD": 0, "F_GETFD": 1, "F_SETFD": 2, "F_GETFL": 3, "F_SETFL": 4,  # all
    # SQLite and others that lock; 64 as on machines of 32 bits.
    "F_GETLK": 5, "F_SETLK": 6, "F_SETLKW": 7, "F_GETLK64": 12, "F_SETLK64": 13, "F_SETLKW64": 14,
    "F_OFD_GETLK": 36, "F_OFD_SETLK": 37, "F_OFD_SETLKW": 38,
    "F_SETOWN": 8, "F_GETOWN": 9, "F_SETSIG": 10, "F_GETSIG": 11, "F_SETOWN_EX": 15, "F_GETOWN_EX": 16,
    "F_DUPFD_CLOEXEC": 1030, "F_GETPIPE_SZ": 1032,  # shells, Python, Rust
}
# What passes of `prctl`; PR_SCHED_CORE, say, would keep others off the other half of a core.
PRCTLS: Final = {
    "PR_SET_NAME": 15, "PR_GET_NAME": 16,  # Java, C#, Rust, Node: names of threads
    "PR_SET_VMA": 0x53564D41,  # PHP, newer C libraries: names of memory
    "PR_SET_THP_DISABLE": 41, "PR_GET_THP_DISABLE": 42,  # Ruby
    "PR_SET_PDEATHSIG": 1, "PR_GET_PDEATHSIG": 2, "PR_SET_DUMPABLE": 4, "PR_GET_DUMPABLE": 3,
    "PR_SET_CHILD_SUBREAPER": 36, "PR_GET_CHILD_SUBREAPER": 37,
    # `setpriv`, which makes a bot another user.
    "PR_GET_KEEPCAPS": 7, "PR_SET_KEEPCAPS": 8, "PR_CAPBSET_READ": 23, "PR_CAPBSET_DROP": 24, "PR_CAP_AMBIENT": 47,
    "PR_GET_SECUREBITS": 27, "PR_SET_SECUREBITS": 28,
    "PR_SET_NO_NEW_PRIVS": 38, "PR_GET_NO_NEW_PRIVS": 39, "PR_GET_SECCOMP": 21, "PR_SET_SECCOMP": 22,
    # Arm: Java's vectors, tags of memory.
    "PR_SVE_SET_VL": 50, "PR_SVE_GET_VL": 51, "PR_SET_TAGGED_ADDR_CTRL": 55, "PR_GET_TAGGED_ADDR_CTRL": 56,
}
# fmt: on
# SEEK_SET, CUR and END; not SEEK_DATA and SEEK_HOLE, which have the file system look up extents.
WHENCE: Final = (0, 1, 2)

# MADV_COLD and PAGEOUT change how pages of a file are cached for all; so does MADV_COLLAPSE, the first after the last
# advice that passes.
ADVICE: Final = (20, 21)
LAST_ADVICE: Final = 24


def refused(error: int) -> int:
    """The filter's verdict that makes a call fail with `error`."""
    return _REFUSE | error


def machine() -> str | None:
    """Which key of `AUDIT_ARCH` this machine is, or None where there is no filter for it."""
    name = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    # A 32-bit Python on a 64-bit kernel says so by its pointers.
    return name if name in AUDIT_ARCH and sys.maxsize > 2**32 else None


@cache
def build(name: str, *, building: bool = False) -> bytes:
    """The filter for the machine `name`, an array of struct sock_filter in the machine's (little) byte order.

    One for `building` lets the times of files be set, as compilers and archivers do.
    """
    column = list(AUDIT_ARCH).index(name)
    unknown, denied, invalid = refused(errno.ENOSYS), refused(errno.EPERM), refused(errno.EINVAL)
    # Another architecture (programs of 32 bits) has other numbers: nothing of it may pass.
    program = [
        (_LOAD, 0, 0, _ARCH),
        (_EQUAL, 1, 0, AUDIT_ARCH[name]),
        (_RETURN, 0, 0, KILL_PROCESS),
        (_LOAD, 0, 0, _NR),
    ]
    # On x86-64 the first of these ends the x32 interface, too.
    program += _check(_AT_LEAST, NEWER, unknown)
    program += [
        (_AT_LEAST, 2, 0, _SHARED),
        (_AT_LEAST, 0, 1, _LAST_OWN[column] + 1),
        (_RETURN, 0, 0, unknown),
    ]
    lists = [(REFUSED, denied), (UNKNOWN, unknown), *([] if building else [(TIMES, denied)])]
    for calls, verdict in lists:
        for numbers in calls.values():
            number = numbers[column]
            if number is not None:
                program += _check(_EQUAL, number, verdict)
    program += _branch(CLONE[column], _ARG0, _check(_ANY_BIT, NEW_NAMESPACE, denied))
    # The kernel uses only the low half of an ioctl's number, so the filter reads only that; so with all below.
    # What does not pass fails as on a file or kernel that does not know it. Characters pushed into terminals fail as
    # for want of rights: by that `doctor` sees that there is a filter.
    terminals = _checks((TIOCSTI, TIOCLINUX), denied)
    program += _branch(IOCTL[column], _ARG1, [*terminals, *_only(IOCTLS.values(), refused(errno.ENOTTY))])
    program += _branch(FCNTL[column], _ARG1, _only(FCNTLS.values(), invalid))
    program += _branch(PRCTL[column], _ARG0, _only(PRCTLS.values(), invalid))
    program += _branch(LSEEK[column], _ARG2, _only(WHENCE, invalid))
    advice = [*_checks(ADVICE, invalid), *_check(_AT_LEAST, LAST_ADVICE + 1, invalid)]
    program += _branch(MADVISE[column], _ARG2, advice)
    # RWF_NOWAIT tells what is cached; no flag is of use to a bot.
    program += _branch(PREADV2[column], _ARG5, _only((0,), refused(errno.EOPNOTSUPP)))
    # The limits of process 1 are not the bot's to set.
    program += _branch(PRLIMIT64[column], _ARG0, _only((0,), denied))
    # The usual way to share a processor, SCHED_OTHER, is the only one: runtimes set it for each thread.
    program += _branch(SCHED_SETSCHEDULER[column], _ARG1, _only((0,), denied))
    for numbers in (SOCKET, SOCKETPAIR):
        program += _branch(numbers[column], _ARG0, _only(FAMILIES, refused(errno.EAFNOSUPPORT)))
    program.append((_RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("<HBBI", *step) for step in program)


_Step = tuple[int, int, int, int]


def _check(test: int, value: int, verdict: int) -> list[_Step]:
    """Return `verdict` if the test on what is loaded holds, else go on."""
    return [(test, 0, 1, value), (_RETURN, 0, 0, verdict)]


def _checks(values: Iterable[int], verdict: int) -> list[_Step]:
    """Return `verdict` if what is loaded is one of `values`, else go on."""
    return [step for value in values for step in _check(_EQUAL, value, verdict)]


def _only(values: Iterable[int], verdict: int) -> list[_Step]:
    """Allow if what is loaded is one of `values`, else return `verdict`."""
    return [*_checks(values, ALLOW), (_RETURN, 0, 0, verdict)]


def _branch(number: int, argument: int, steps: list[_Step]) -> list[_Step]:
    """For the system call `number`: `steps` on the low half of an argument, then allow; else skip all that."""
    inner = [(_LOAD, 0, 0, argument), *steps, (_RETURN, 0, 0, ALLOW)]
    return [(_EQUAL, 0, len(inner), number), *inner]
