/* Takes its time, and has children of its own keep it waiting for the processor meanwhile. */
#include "hostile.h"

int main(int count, char **arguments) {
    double seconds = count > 1 ? atof(arguments[1]) : 0.05;
    int chains = count > 2 ? atoi(arguments[2]) : 6;
    long id = next_question();
    for (int i = 0; i < chains; i++)
        begin_chain(0.5e-3);
    for (; id; id = next_question()) {
        compute(seconds);
        answer(id);
    }
    return 0;
}
