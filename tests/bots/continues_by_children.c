/* Computes out of turn, and has children that live for a moment continue it when it is stopped. */
#include "hostile.h"

int main(void) {
    pid_t self = getpid();
    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            close(0);
            close(1);
            alarm(10);
            for (;;) {
                kill(self, SIGCONT);
                compute(40e-6);
                if (fork() > 0)
                    _exit(0);
            }
        }
    for (long id; (id = next_question());) {
        answer(id);
        ponder(0);
    }
    return 0;
}
