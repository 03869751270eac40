/* Has many processes that do nothing and share memory, so that looking at them costs much. */
#include "hostile.h"

int main(int count, char **arguments) {
    int processes = count > 1 ? atoi(arguments[1]) : 50;
    size_t bytes = 24 << 20;
    volatile char *shared = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < processes; i++)
        if (fork() == 0) {
            close(0);
            close(1);
            alarm(30);
            for (size_t at = 0; at < bytes; at += 4096)
                shared[at] = 1;
            for (;;)
                pause();
        }
    for (long id; (id = next_question());)
        answer(id);
    return 0;
}
