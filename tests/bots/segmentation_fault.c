/* Writes through a null pointer when asked. */
#include <stdio.h>
#include <string.h>

static char line[1 << 20];

int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"hello\""))
            puts("{\"type\":\"hello\",\"protocol\":1,\"wants\":[]}");
        else if (strstr(line, "\"type\":\"start\""))
            puts("{\"type\":\"ready\"}");
        else
            *(volatile int *)0 = 1;
        fflush(stdout);
    }
    return 0;
}
