/* Has chains of processes compute out of turn that live too shortly to be seen. */
#include "hostile.h"

int main(void) {
    long id = next_question();
    answer(id);
    for (int i = 0; i < 12; i++)
        begin_chain(i % 2 ? 0.4e-3 : 1e-3);
    while ((id = next_question()))
        answer(id);
    return 0;
}
