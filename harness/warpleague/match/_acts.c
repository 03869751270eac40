/* The lines of actions in C, byte for byte as `Scribe` writes them in `scribe.py`.
 *
 * It uses the stable ABI of Python 3.11, so that one build serves all later versions. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdio.h>
#include <string.h>

#define MOST_SEATS 16
#define MOST_NS 1000000000000000LL /* longer times are left to Python */
#define MOST_N 1000000000LL
#define MOST_DIGITS 64 /* of all numbers of a line, with what stands between them */

typedef struct {
    long long count, wall, cpu, wait, longest;
} Spent;

/* Nanoseconds as JSON milliseconds: whole microseconds, without zeros at the end. Returns the end of it. */
static char *milliseconds(char *to, long long ns) {
    long long us = ns / 1000;
    int rest = (int)(us % 1000);
    to += sprintf(to, "%lld", us / 1000);
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
    if (ns < 0 || ns >= MOST_NS) {
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
    if (PyTuple_GetItem(noted, 3) != Py_None || !PyTuple_Check(times) || PyTuple_Size(times) != 3 ||
        !PyTuple_Check(played) || PyTuple_Size(played) != 4)
        return 0;
    int known = 1;
    long long n = PyLong_AsLongLong(PyTuple_GetItem(noted, 0));
    long long seat = PyLong_AsLongLong(PyTuple_GetItem(played, 2));
    long long ns[3];
    for (int at = 0; at < 3; at++)
        ns[at] = time_of(PyTuple_GetItem(times, at), &known);
    if (PyErr_Occurred())
        return -1;
    if (!known || ns[0] < 0 || n < 0 || n >= MOST_N || seat < 0 || seat >= MOST_SEATS)
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
    char middle[4 * MOST_DIGITS], *to = middle, *number;
    to += sprintf(to, ",\"ms\":[");
    for (int at = 0; at < 3; at++) {
        to = ns[at] < 0 ? to + sprintf(to, "null") : milliseconds(to, ns[at]);
        *to++ = at < 2 ? ',' : ']';
    }
    number = to;
    to += sprintf(to, ",\"n\":%lld", n);
    int failed = append(lines, joined(head, middle, to - middle, end)) ||
                 append(digested, joined(head, number, to - number, end));
    Py_DECREF(both);
    if (failed)
        return -1;
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
    Spent spent[MOST_SEATS] = {{0}};
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
    for (int seat = 0; seat < MOST_SEATS; seat++) {
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

static PyMethodDef functions[] = {
    {"write", (PyCFunction)(void (*)(void))write_all, METH_FASTCALL, "Write all that is noted of a match."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_acts", .m_size = 0, .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__acts(void) { return PyModuleDef_Init(&module); }
