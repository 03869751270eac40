/* What the misbehaving bots in C share: the wire, and ways to spend time. */
#define _GNU_SOURCE
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char line[1 << 20];

static double now(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

/* Compute for so many seconds of the wall clock. */
static void compute(double seconds) {
    for (double begun = now(CLOCK_MONOTONIC); now(CLOCK_MONOTONIC) - begun < seconds;)
        ;
}

/* The id of the next question, or 0 when there are no more; shakes hands when asked to. */
static long next_question(void) {
    long id;
    while (fgets(line, sizeof line, stdin) && !strstr(line, "\"type\":\"quit\"")) {
        if (sscanf(line, "{\"type\":\"act\",\"id\":%ld", &id) == 1)
            return id;
        if (strstr(line, "\"type\":\"hello\""))
            puts("{\"type\":\"hello\",\"protocol\":1,\"wants\":[]}");
        else if (strstr(line, "\"type\":\"start\""))
            puts("{\"type\":\"ready\"}");
        fflush(stdout);
    }
    return 0;
}

static void answer(long id) {
    printf("{\"type\":\"act\",\"id\":%ld,\"action\":0}\n", id);
    fflush(stdout);
}

/* Compute until there is something to read. */
static void ponder(void (*now_and_then)(void)) {
    struct pollfd input = {0, POLLIN, 0};
    for (double last = 0; poll(&input, 1, 0) <= 0;)
        if (now_and_then && now(CLOCK_MONOTONIC) - last > 0.0008) {
            now_and_then();
            last = now(CLOCK_MONOTONIC);
        }
}

/* A chain of processes that each compute for so many seconds of their own clock, start the next one, and end. By the
 * wall clock they could end without having computed: the dead of many chains would soon hold all process ids. */
static void begin_chain(double seconds) {
    signal(SIGCHLD, SIG_IGN);
    if (fork())
        return;
    close(0);
    close(1);
    for (double begun = now(CLOCK_MONOTONIC); now(CLOCK_MONOTONIC) - begun < 10;) {
        while (now(CLOCK_PROCESS_CPUTIME_ID) < seconds)
            ;
        if (fork() > 0)
            _exit(0);
    }
    _exit(0);
}
