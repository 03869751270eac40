/* Takes memory until there is no more, or 2 GB, and then answers as if nothing was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char line[1 << 20];

int main(void) {
    for (long id; fgets(line, sizeof line, stdin); fflush(stdout)) {
        if (strstr(line, "\"type\":\"hello\""))
            puts("{\"type\":\"hello\",\"protocol\":1,\"wants\":[]}");
        else if (strstr(line, "\"type\":\"start\""))
            puts("{\"type\":\"ready\"}");
        else if (sscanf(line, "{\"type\":\"act\",\"id\":%ld", &id) == 1) {
            for (int mib = 0; id == 1 && mib < 2048; mib++) {
                char *block = malloc(1 << 20);
                if (!block)
                    abort(); /* refused: the host keeps its promise */
                memset(block, mib, 1 << 20);
            }
            printf("{\"type\":\"act\",\"id\":%ld,\"action\":0}\n", id);
        } else
            return 0;
    }
    return 0;
}
