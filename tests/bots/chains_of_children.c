/* Has chains of processes compute out of turn that live too shortly to be seen. */
#include "hostile.h"

int main(void) {
    long id = next_question();
    answer(id);
    for (int i = 0; i < 12; i++)
        begin_chain(i % 2 ? 60e-6 : 300e-6);
    while ((id = next_question()))
        answer(id);
    return 0;
}
