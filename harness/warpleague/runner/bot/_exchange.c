/* The exchange of `exchange.py` in C, function by function the same; that module says what goes in and comes out.
 *
 * It uses the stable ABI of Python 3.11, so that one build serves all later versions. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (1 << 16)

static long long now_ns(clockid_t clock) {
    struct timespec time;
    return clock_gettime(clock, &time) ? -1 : time.tv_sec * 1000000000LL + time.tv_nsec;
}

static PyObject *number(long long value) {
    if (value >= 0)
        return PyLong_FromLongLong(value);
    Py_INCREF(Py_None);
    return Py_None;
}

/* (to, back, line, wait_ms, clock, known_ns) */
static PyObject *exchange(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    char data[CHUNK], *line;
    Py_ssize_t size, written, got = -1;
    long long cpu_begun = -1, cpu = -1;
    (void)self;
    if (count != 6) {
        PyErr_SetString(PyExc_TypeError, "exchange() takes 6 arguments");
        return NULL;
    }
    int to = (int)PyLong_AsLong(args[0]), back = (int)PyLong_AsLong(args[1]);
    int wait_ms = (int)PyLong_AsLong(args[3]);
    clockid_t clock = (clockid_t)PyLong_AsLong(args[4]);
    long long known = PyLong_AsLongLong(args[5]);
    if (PyErr_Occurred() || PyBytes_AsStringAndSize(args[2], &line, &size))
        return NULL;

    struct pollfd ready = {back, POLLIN, 0};
    if (poll(&ready, 1, 0) > 0)
        Py_RETURN_NONE;
    long long begun = now_ns(CLOCK_MONOTONIC), now = begun;
    if (begun > known) {
        cpu_begun = now_ns(clock);
        now = begun = now_ns(CLOCK_MONOTONIC);
    }
    written = write(to, line, (size_t)size);
    if (written < 0) {
        if (errno != EAGAIN && errno != EPIPE)
            return PyErr_SetFromErrno(PyExc_OSError);
        written = errno == EPIPE ? size : 0;
    }
    if (written == size) {
        /* On a shared core the bot has often run by now: look before waiting. */
        got = read(back, data, CHUNK);
        if (got < 0 && errno == EAGAIN) {
            int found;
            Py_BEGIN_ALLOW_THREADS
            found = poll(&ready, 1, wait_ms);
            Py_END_ALLOW_THREADS
            errno = EAGAIN; /* a signal ends the wait early: then nothing came, for now */
            if (found > 0)
                got = read(back, data, CHUNK);
        }
        if (got < 0 && errno != EAGAIN)
            return PyErr_SetFromErrno(PyExc_OSError);
        now = now_ns(CLOCK_MONOTONIC);
        if (got >= 0)
            cpu = now_ns(clock);
    }

    PyObject *parts[6] = {
        PyLong_FromSsize_t(written),
        got < 0 ? (Py_INCREF(Py_None), Py_None) : PyBytes_FromStringAndSize(data, got),
        PyLong_FromLongLong(begun),
        PyLong_FromLongLong(now),
        number(cpu_begun),
        number(cpu),
    };
    PyObject *told = PyTuple_New(6);
    for (int at = 0; at < 6; at++) {
        if (parts[at] == NULL || told == NULL) {
            Py_XDECREF(told);
            for (; at < 6; at++)
                Py_XDECREF(parts[at]);
            return NULL;
        }
        PyTuple_SetItem(told, at, parts[at]);
    }
    return told;
}

static PyMethodDef functions[] = {
    {"exchange", (PyCFunction)(void (*)(void))exchange, METH_FASTCALL, "Ask a bot, and wait a moment for its answer."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot slots[] = {{0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_exchange", .m_size = 0, .m_methods = functions, .m_slots = slots};

PyMODINIT_FUNC PyInit__exchange(void) { return PyModuleDef_Init(&module); }
