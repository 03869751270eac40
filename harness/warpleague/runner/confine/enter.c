/* Becomes a bot: dies with the harness, enters the bot's control groups, sets its limits, and runs it.
 *
 * usage: enter DIE FILES FILE_BYTES DATA_BYTES GROUPS FILE... PROGRAM [ARGUMENT...]
 *
 * It does what setpriv(1) and a shell do where it was not compiled (`launch.py`). With DIE 1 the kernel kills the bot when
 * its parent ends. FILES, FILE_BYTES and DATA_BYTES are limits, -1 for none of them; core dumps are off with them.
 * GROUPS is how many FILEs follow: to write 0 there is to enter a group. Exit codes: 125 for a group that cannot be
 * entered; 126 and 127, as in a shell, for a program that cannot be run or is not there. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

static int fail(const char *what, int code) {
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    return code;
}

/* A limit above our own cannot be set, and is not needed then. */
static void limit(int kind, const char *most) {
    struct rlimit now;
    rlim_t wanted = strtoull(most, NULL, 10);
    if (getrlimit(kind, &now))
        return;
    if (now.rlim_max != RLIM_INFINITY && now.rlim_max < wanted)
        wanted = now.rlim_max;
    now.rlim_cur = now.rlim_max = wanted;
    setrlimit(kind, &now);
}

int main(int argc, char **argv) {
    int groups = argc > 5 ? atoi(argv[5]) : -1;
    if (groups < 0 || argc < 7 + groups)
        return 2;
    if (atoi(argv[1]) && prctl(PR_SET_PDEATHSIG, SIGKILL))
        return fail("prctl", 125);
    for (int at = 6; at < 6 + groups; at++) {
        int file = open(argv[at], O_WRONLY | O_CLOEXEC);
        if (file < 0 || write(file, "0\n", 2) != 2)
            return fail(argv[at], 125);
        close(file);
    }
    if (argv[2][0] != '-') {
        limit(RLIMIT_CORE, "0");
        limit(RLIMIT_NOFILE, argv[2]);
        limit(RLIMIT_FSIZE, argv[3]);
        limit(RLIMIT_DATA, argv[4]);
    }
    execv(argv[6 + groups], argv + 6 + groups);
    return fail(argv[6 + groups], errno == ENOENT ? 127 : 126);
}
