/* A bot for measuring: it plays the first legal action in any game. It does as little as a bot can, since what it does
 * is no part of what is measured.
 *
 * Compiled with -DWANTS it asks for all that bots get by default, else for nothing; with -DBURN_MS=N it computes for
 * N ms before each answer, with -DSLEEP_MS=N it waits as long. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>
#include <unistd.h>

#define IS(type) (strncmp(line, "{\"type\":\"" type "\"", sizeof "{\"type\":\"" type) == 0)
#define SAY(text) say(text "\n", sizeof text)
#define HEAD "{\"type\":\"act\",\"id\":"
#define TAIL ",\"action\":0}\n"
#define LENGTH(text) (sizeof text - 1)

static char lines[1 << 20], reply[64];

static void say(const char *text, size_t size) {
    if (write(1, text, size) < 0)
        _exit(1);
}

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

static void answer(const char *line) {
    if (IS("act")) {
        size_t size = LENGTH(HEAD) + strspn(line + LENGTH(HEAD), "0123456789"); /* up to its id */
        if (size + LENGTH(TAIL) > sizeof reply)
            _exit(1);
        memcpy(reply, line, size);
        memcpy(reply + size, TAIL, LENGTH(TAIL));
        think();
        say(reply, size + LENGTH(TAIL));
    } else if (IS("hello"))
#ifdef WANTS
        SAY("{\"type\":\"hello\",\"protocol\":1,\"reusable\":true}");
#else
        SAY("{\"type\":\"hello\",\"protocol\":1,\"wants\":[],\"reusable\":true}");
#endif
    else if (IS("start"))
        SAY("{\"type\":\"ready\"}");
    else if (IS("quit"))
        _exit(0);
}

int main(void) {
    size_t held = 0; /* of a line that came in part */
    for (ssize_t got; (got = read(0, lines + held, sizeof lines - held)) > 0;) {
        char *line = lines, *end;
        held += (size_t)got;
        while ((end = memchr(line, '\n', held))) {
            answer(line);
            held -= (size_t)(end + 1 - line);
            line = end + 1;
        }
        if (held && line != lines)
            memmove(lines, line, held);
    }
    return 0;
}
