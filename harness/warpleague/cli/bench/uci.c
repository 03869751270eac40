/* A chess engine for measuring tournament programs: both sides move their king's knight out and back. The third
 * repetition ends each game after eight plies. */
#include <stdio.h>
#include <string.h>

static char line[1 << 16];

int main(void) {
    int plies = 0;
    for (; fgets(line, sizeof line, stdin) && strncmp(line, "quit", 4) != 0; fflush(stdout)) {
        if (strncmp(line, "ucinewgame", 10) == 0)
            continue;
        if (strncmp(line, "uci", 3) == 0)
            puts("id name measure\nid author measure\nuciok");
        else if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        else if (strncmp(line, "position", 8) == 0) {
            char *moves = strstr(line, " moves ");
            plies = 0;
            for (char *at = moves ? moves + 6 : ""; *at; at++)
                plies += *at == ' ' && at[1] > ' ';
        } else if (strncmp(line, "go", 2) == 0) {
            static const char *const move[] = {"g1f3", "g8f6", "f3g1", "f6g8"};
            printf("info depth 1 score cp 0\nbestmove %s\n", move[plies % 4]);
        }
    }
    return 0;
}
