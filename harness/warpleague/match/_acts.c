/* The lines of actions in C, byte for byte as `Scribe` writes them in `scribe.py`, and what dice show, as in
 * `chance.py`.
 *
 * It uses the stable ABI of Python 3.11, so that one build serves all later versions. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <string.h>

#define MAX_SEATS 16
#define MAX_NS 1000000000000000LL /* longer times are left to Python */
#define MAX_N 1000000000LL
#define MAX_DIGITS 64 /* of all numbers of a line, with what stands between them */

typedef struct {
    long long count, wall, cpu, wait, longest;
} Spent;

/* The digits of a number from 0 on. Returns the end of them. */
static char *digits(char *to, long long number) {
    char reversed[24], *end = reversed;
    do
        *end++ = (char)('0' + number % 10);
    while (number /= 10);
    while (end > reversed)
        *to++ = *--end;
    return to;
}

/* What stands between numbers. Returns the end of it. */
static char *text(char *to, const char *found) {
    size_t size = strlen(found);
    memcpy(to, found, size);
    return to + size;
}

/* Nanoseconds as JSON milliseconds: whole microseconds, without zeros at the end. Returns the end of it. */
static char *milliseconds(char *to, long long ns) {
    long long us = ns / 1000;
    int rest = (int)(us % 1000);
    to = digits(to, us / 1000);
    if (rest) {
        *to++ = '.';
        for (int unit = 100; rest; rest %= unit, unit /= 10)
            *to++ = (char)('0' + rest / unit);
    }
    return to;
}

/* A time, or -1 where it is None, or is left to Python. `known` says which. */
static long long time_of(PyObject *value, int *known) {
    if (value == Py_None)
        return -1;
    long long ns = PyLong_Check(value) ? PyLong_AsLongLong(value) : -1;
    if (ns < 0 || ns >= MAX_NS) {
        PyErr_Clear();
        *known = 0;
    }
    return ns;
}

static PyObject *joined(PyObject *head, const char *middle, Py_ssize_t size, PyObject *end) {
    Py_ssize_t before = PyBytes_Size(head), after = PyBytes_Size(end);
    PyObject *line = PyBytes_FromStringAndSize(NULL, before + size + after);
    if (line == NULL)
        return NULL;
    char *to = PyBytes_AsString(line);
    memcpy(to, PyBytes_AsString(head), (size_t)before);
    memcpy(to + before, middle, (size_t)size);
    memcpy(to + before + size, PyBytes_AsString(end), (size_t)after);
    return line;
}

static int append(PyObject *list, PyObject *line) {
    int failed = line == NULL || PyList_Append(list, line);
    Py_XDECREF(line);
    return failed;
}

/* Write a noted action if it is a usual one: 1 if it was, 0 if not, -1 after an error. */
static int write_act(PyObject *noted, PyObject *ends, PyObject *lines, PyObject *digested, Spent *spent) {
    if (!PyTuple_Check(noted) || PyTuple_Size(noted) != 4)
        return 0;
    PyObject *played = PyTuple_GetItem(noted, 1), *times = PyTuple_GetItem(noted, 2);
    int timed = times != Py_None; /* not so where nobody was asked */
    if (PyTuple_GetItem(noted, 3) != Py_None || (timed && (!PyTuple_Check(times) || PyTuple_Size(times) != 3)) ||
        !PyTuple_Check(played) || PyTuple_Size(played) != 4)
        return 0;
    int known = 1;
    long long n = PyLong_AsLongLong(PyTuple_GetItem(noted, 0));
    long long seat = PyLong_AsLongLong(PyTuple_GetItem(played, 2));
    long long ns[3] = {0};
    for (int at = 0; timed && at < 3; at++)
        ns[at] = time_of(PyTuple_GetItem(times, at), &known);
    if (PyErr_Occurred())
        return -1;
    if (!known || ns[0] < 0 || n < 0 || n >= MAX_N || seat < 0 || seat >= MAX_SEATS)
        return 0;
    PyObject *both = PyObject_GetItem(ends, played);
    if (both == NULL)
        return -1;
    PyObject *head = PyTuple_GetItem(both, 0), *end = PyTuple_GetItem(both, 1);
    if (head == NULL || end == NULL || !PyBytes_Check(head) || !PyBytes_Check(end)) {
        Py_DECREF(both);
        PyErr_SetString(PyExc_TypeError, "both ends of a line must be bytes");
        return -1;
    }
    char middle[4 * MAX_DIGITS], *to = middle, *number;
    if (timed) {
        to = text(to, ",\"ms\":[");
        for (int at = 0; at < 3; at++) {
            to = ns[at] < 0 ? text(to, "null") : milliseconds(to, ns[at]);
            *to++ = at < 2 ? ',' : ']';
        }
    }
    number = to;
    to = digits(text(to, ",\"n\":"), n);
    PyObject *line = joined(head, number, to - number, end);
    int failed = line == NULL || PyList_Append(digested, line);
    if (!failed)
        failed = timed ? append(lines, joined(head, middle, to - middle, end)) : PyList_Append(lines, line);
    Py_XDECREF(line);
    Py_DECREF(both);
    if (failed)
        return -1;
    if (!timed)
        return 1;
    spent += seat;
    spent->count++;
    spent->wall += ns[0];
    spent->cpu += ns[1] < 0 ? 0 : ns[1];
    spent->wait += ns[2] < 0 ? 0 : ns[2];
    if (ns[0] > spent->longest)
        spent->longest = ns[0];
    return 1;
}

/* (noted, ends, lines, digested, other, add): write all that is noted. What is no usual action is given to `other`,
 * and what the usual ones took to `add`, for each seat. */
static PyObject *write_all(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Spent spent[MAX_SEATS] = {{0}};
    (void)self;
    if (count != 6 || !PyList_Check(args[0]) || !PyList_Check(args[2]) || !PyList_Check(args[3])) {
        PyErr_SetString(PyExc_TypeError, "write() takes three lists and three more arguments");
        return NULL;
    }
    for (Py_ssize_t at = 0; at < PyList_Size(args[0]); at++) {
        PyObject *noted = PyList_GetItem(args[0], at);
        int written;
        if (PyBytes_Check(noted))
            written = PyList_Append(args[2], noted) || PyList_Append(args[3], noted) ? -1 : 1;
        else
            written = write_act(noted, args[1], args[2], args[3], spent);
        if (written == 0) {
            PyObject *none = PyObject_CallFunctionObjArgs(args[4], noted, NULL);
            Py_XDECREF(none);
            written = none == NULL ? -1 : 1;
        }
        if (written < 0)
            return NULL;
    }
    for (int seat = 0; seat < MAX_SEATS; seat++) {
        Spent *all = spent + seat;
        if (!all->count)
            continue;
        PyObject *none = PyObject_CallFunction(args[5], "iLLLLL", seat, all->wall, all->cpu, all->wait, all->longest,
                                               all->count);
        if (none == NULL)
            return NULL;
        Py_DECREF(none);
    }
    Py_RETURN_NONE;
}

/* A number of 16 bytes, big-endian, times `below`, without its last 128 bits. */
static long long times(const unsigned char *number, unsigned long long below) {
    unsigned long long half[2] = {0};
    for (int at = 0; at < 16; at++)
        half[at / 8] = half[at / 8] << 8 | number[at];
    unsigned __int128 product = (unsigned __int128)half[0] * below;
    product += (unsigned __int128)half[1] * below >> 64;
    return (long long)(product >> 64);
}

/* (numbers, draws): an outcome for each draw, if each is uniform below a number of at most 63 bits; else None. */
static PyObject *outcome(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (count != 2 || !PyBytes_Check(args[0]) || !PyTuple_Check(args[1]) ||
        PyBytes_Size(args[0]) < 16 * PyTuple_Size(args[1])) {
        PyErr_SetString(PyExc_TypeError, "outcome() takes 16 bytes for each draw, and a tuple of draws");
        return NULL;
    }
    const unsigned char *number = (const unsigned char *)PyBytes_AsString(args[0]);
    Py_ssize_t draws = PyTuple_Size(args[1]);
    PyObject *found = PyTuple_New(draws);
    for (Py_ssize_t at = 0; found != NULL && at < draws; at++, number += 16) {
        PyObject *draw = PyTuple_GetItem(args[1], at);
        long long below = PyLong_Check(draw) ? PyLong_AsLongLong(draw) : -1;
        if (below < 0) {
            PyErr_Clear();
            Py_DECREF(found);
            Py_RETURN_NONE;
        }
        PyObject *index = PyLong_FromLongLong(times(number, (unsigned long long)below));
        if (index == NULL || PyTuple_SetItem(found, at, index))
            Py_CLEAR(found);
    }
    return found;
}

static PyMethodDef functions[] = {
    {"outcome", (PyCFunction)(void (*)(void))outcome, METH_FASTCALL, "What dice show."},
    {"write", (PyCFunction)(void (*)(void))write_all, METH_FASTCALL, "Write all that is noted of a match."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_acts", .m_size = 0, .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__acts(void) { return PyModuleDef_Init(&module); }
