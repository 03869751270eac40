/* Computes for a while in each decision, by its own processor clock, and answers. */
#include "hostile.h"

int main(int count, char **arguments) {
    double seconds = count > 1 ? atof(arguments[1]) : 0.001;
    for (long id; (id = next_question());) {
        for (double begun = now(CLOCK_PROCESS_CPUTIME_ID); now(CLOCK_PROCESS_CPUTIME_ID) - begun < seconds;)
            ;
        answer(id);
    }
    return 0;
}
