/* The common measure of all transports: one question and one answer between two C programs over blocking pipes.
 *
 * usage: pingpong ROUNDS QUESTION_BYTES ANSWER_BYTES; prints nanoseconds a round trip. Both processes run where
 * their parent may run: pin it to compare on one core. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static char buffer[1 << 16];

static void all(ssize_t (*step)(int, char *, size_t), int fd, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = step(fd, buffer + done, size - done);
        if (count <= 0)
            _exit(0);
        done += (size_t)count;
    }
}

static ssize_t put(int fd, char *from, size_t size) { return write(fd, from, size); }

static ssize_t get(int fd, char *into, size_t size) { return read(fd, into, size); }

int main(int argc, char **argv) {
    if (argc != 4)
        return 2;
    long rounds = atol(argv[1]);
    size_t question = (size_t)atol(argv[2]), answer = (size_t)atol(argv[3]);
    int down[2], up[2];
    if (question > sizeof buffer || answer > sizeof buffer || pipe(down) || pipe(up))
        return 1;
    if (fork() == 0) {
        close(down[1]);
        close(up[0]);
        for (;;) {
            all(get, down[0], question);
            all(put, up[1], answer);
        }
    }
    close(down[0]);
    close(up[1]);
    struct timespec from, to;
    for (long round = -rounds / 10; round < rounds; round++) {
        if (round == 0)
            clock_gettime(CLOCK_MONOTONIC, &from);
        all(put, down[1], question);
        all(get, up[0], answer);
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("%.1f\n", ((to.tv_sec - from.tv_sec) * 1e9 + (to.tv_nsec - from.tv_nsec)) / rounds);
    return 0;
}
