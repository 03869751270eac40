/* Takes 1 GB of page tables by reading one byte in each 2 MiB of memory that it never writes to. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static char line[1 << 20];

static void take(void) {
    const size_t size = (size_t)1 << 39, step = 2 << 20;
    volatile char *at = mmap(0, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return;
    madvise((void *)at, size, 15); /* MADV_NOHUGEPAGE: or one table would do for all */
    for (size_t done = 0; done < size; done += step)
        (void)at[done];
}

int main(void) {
    for (long id; fgets(line, sizeof line, stdin); fflush(stdout)) {
        if (strstr(line, "\"type\":\"hello\""))
            puts("{\"type\":\"hello\",\"protocol\":1,\"wants\":[]}");
        else if (strstr(line, "\"type\":\"start\""))
            puts("{\"type\":\"ready\"}");
        else if (sscanf(line, "{\"type\":\"act\",\"id\":%ld", &id) == 1)
            take(); /* and never answers */
        else
            return 0;
    }
    return 0;
}
