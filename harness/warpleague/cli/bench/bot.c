/* A bot for measuring: it plays the first legal action in any game.
 *
 * Compiled with -DWANTS it asks for all that bots get by default, else for nothing; with -DBURN_MS=N it computes for
 * N ms before each answer, with -DSLEEP_MS=N it waits as long. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>

#define IS(type) (strncmp(line, "{\"type\":\"" type "\"", sizeof "{\"type\":\"" type) == 0)

static char line[1 << 20];

static void think(void) {
#ifdef BURN_MS
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    long end = now.tv_sec * 1000000000L + now.tv_nsec + BURN_MS * 1000000L;
    while (now.tv_sec * 1000000000L + now.tv_nsec < end)
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
#endif
#ifdef SLEEP_MS
    struct timespec rest = {SLEEP_MS / 1000, SLEEP_MS % 1000 * 1000000L};
    nanosleep(&rest, NULL);
#endif
}

int main(void) {
    setvbuf(stdin, NULL, _IOFBF, 1 << 16); /* a question that has all in it comes in one read, too */
    for (long id; fgets(line, sizeof line, stdin) && !IS("quit"); fflush(stdout)) {
        if (sscanf(line, "{\"type\":\"act\",\"id\":%ld", &id) == 1) {
            think();
            printf("{\"type\":\"act\",\"id\":%ld,\"action\":0}\n", id);
        } else if (IS("hello"))
#ifdef WANTS
            puts("{\"type\":\"hello\",\"protocol\":1,\"reusable\":true}");
#else
            puts("{\"type\":\"hello\",\"protocol\":1,\"wants\":[],\"reusable\":true}");
#endif
        else if (IS("start"))
            puts("{\"type\":\"ready\"}");
    }
    return 0;
}
