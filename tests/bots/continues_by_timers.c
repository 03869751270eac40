/* Computes out of turn, and has timers of its own continue it when it is stopped. */
#include "hostile.h"

enum { TIMERS = 40 };
static timer_t timers[TIMERS];

static void arm(void) {
    for (int i = 0; i < TIMERS; i++) {
        struct itimerspec in = {{0, 0}, {0, 1000000 + i * 500000}};
        timer_settime(timers[i], 0, &in, 0);
    }
}

static void ignore(int number) { (void)number; }

int main(void) {
    struct sigaction action = {.sa_handler = ignore, .sa_flags = SA_RESTART};
    sigaction(SIGCONT, &action, 0);
    for (int i = 0; i < TIMERS; i++) {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
        timer_create(CLOCK_MONOTONIC, &event, &timers[i]);
    }
    for (long id; (id = next_question());) {
        arm();
        answer(id);
        ponder(arm);
    }
    return 0;
}
