/* The exchange of `exchange.py` in C, method by method the same; that module says what goes in and comes out.
 *
 * It uses the stable ABI of Python 3.11, so that one build serves all later versions. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <structmember.h>
#include <time.h>
#include <unistd.h>

#define CHUNK (1 << 16)
#define SHORT_NS 1000000
#define QUIET_NS 1000000
#define HEAD "{\"type\":\"act\",\"id\":"
#define MIDDLE ",\"action\":"
#define LENGTH(text) ((Py_ssize_t)sizeof text - 1)

typedef struct {
    PyObject_HEAD
    int to, back;
    long long clock, cores;
    long long known_ns, known_until_ns, alarm_ns, ended_ns, turns_ns;
} Pipes;

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

/* A tuple of `count` new references, which are given away; NULL if one of them is. */
static PyObject *tuple_of(PyObject **parts, Py_ssize_t count) {
    PyObject *told = PyTuple_New(count);
    int failed = told == NULL;
    for (Py_ssize_t at = 0; at < count; at++) {
        if (parts[at] == NULL || told == NULL) {
            Py_XDECREF(parts[at]);
            failed = 1;
        } else
            PyTuple_SetItem(told, at, parts[at]);
    }
    if (failed)
        Py_CLEAR(told);
    return told;
}

/* The index that an answer to a question is no more than; -1 if it is not so simple. */
static long index_in(const char *line, Py_ssize_t size, const char *data, Py_ssize_t got) {
    Py_ssize_t at = LENGTH(HEAD);
    if (size < at || memcmp(line, HEAD, (size_t)at))
        return -1;
    while (at < size && line[at] >= '0' && line[at] <= '9')
        at++;
    if (at == size || line[at] != ',')
        return -1;
    Py_ssize_t digits = got - at - LENGTH(MIDDLE) - 2;
    if (digits < 1 || digits > 3 || memcmp(data, line, (size_t)at) || memcmp(data + at, MIDDLE, LENGTH(MIDDLE)))
        return -1;
    data += at + LENGTH(MIDDLE);
    if (data[digits] != '}' || (data[0] == '0' && digits > 1))
        return -1;
    long index = 0;
    for (; digits; digits--, data++) {
        if (*data < '0' || *data > '9')
            return -1;
        index = 10 * index + (*data - '0');
    }
    return index;
}

static void note(Pipes *pipes, long long now, long long cpu) {
    pipes->ended_ns = now;
    pipes->known_ns = cpu;
    pipes->known_until_ns = cpu < 0 ? 0 : now + QUIET_NS / pipes->cores;
    if (cpu >= 0)
        pipes->alarm_ns = cpu + QUIET_NS;
}

/* (now_ns, cpu_ns) */
static PyObject *answered(PyObject *self, PyObject *args) {
    long long now, cpu = -1;
    PyObject *told;
    if (!PyArg_ParseTuple(args, "LO", &now, &told))
        return NULL;
    if (told != Py_None)
        cpu = PyLong_AsLongLong(told);
    if (PyErr_Occurred())
        return NULL;
    note((Pipes *)self, now, cpu);
    Py_RETURN_NONE;
}

/* (line, wait_ms) */
static PyObject *exchange(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    Pipes *pipes = (Pipes *)self;
    char data[CHUNK], *line;
    Py_ssize_t size, written, got = -1;
    long long cpu_begun = -1, cpu = -1;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "exchange() takes 2 arguments");
        return NULL;
    }
    int to = pipes->to, back = pipes->back, wait_ms = (int)PyLong_AsLong(args[1]);
    clockid_t clock = (clockid_t)pipes->clock;
    if (PyErr_Occurred() || PyBytes_AsStringAndSize(args[0], &line, &size))
        return NULL;

    struct pollfd ready = {back, POLLIN, 0};
    if (poll(&ready, 1, 0) > 0)
        Py_RETURN_NONE;
    long long begun = now_ns(CLOCK_MONOTONIC), now = begun;
    if (begun > pipes->known_until_ns) {
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

    long long wall = now - begun;
    if (got > 0 && got < CHUNK && wall < SHORT_NS && cpu_begun <= pipes->alarm_ns &&
        memchr(data, '\n', (size_t)got) == data + got - 1) {
        long long before = cpu_begun < 0 ? pipes->known_ns : cpu_begun, used = -1;
        if (before >= 0 && cpu >= 0)
            used = cpu - before < wall * pipes->cores ? cpu - before : wall * pipes->cores;
        note(pipes, now, cpu);
        pipes->turns_ns += wall;
        long index = index_in(line, size, data, got);
        PyObject *usual[3] = {
            index < 0 ? PyBytes_FromStringAndSize(data, got - 1) : PyLong_FromLong(index),
            PyLong_FromLongLong(wall),
            number(used),
        };
        return tuple_of(usual, 3);
    }
    PyObject *parts[6] = {
        PyLong_FromSsize_t(written),
        got < 0 ? (Py_INCREF(Py_None), Py_None) : PyBytes_FromStringAndSize(data, got),
        PyLong_FromLongLong(begun),
        PyLong_FromLongLong(now),
        number(cpu_begun),
        number(cpu),
    };
    return tuple_of(parts, 6);
}

/* (to, back, clock, cores) */
static int init(PyObject *self, PyObject *args, PyObject *named) {
    Pipes *pipes = (Pipes *)self;
    if (named != NULL && PyDict_Size(named)) {
        PyErr_SetString(PyExc_TypeError, "Pipes() takes no named arguments");
        return -1;
    }
    pipes->known_ns = -1;
    pipes->known_until_ns = pipes->ended_ns = pipes->turns_ns = 0;
    pipes->alarm_ns = 1LL << 62;
    return PyArg_ParseTuple(args, "iiLL", &pipes->to, &pipes->back, &pipes->clock, &pipes->cores) ? 0 : -1;
}

static void dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"exchange", (PyCFunction)(void (*)(void))exchange, METH_FASTCALL, "Ask a bot, and wait a moment for its answer."},
    {"answered", answered, METH_VARARGS, "Take note of an answer."},
    {NULL, NULL, 0, NULL},
};

#define MEMBER(name) {#name, T_LONGLONG, offsetof(Pipes, name), 0, NULL}
static PyMemberDef members[] = {
    MEMBER(clock),    MEMBER(known_ns), MEMBER(known_until_ns), MEMBER(alarm_ns),
    MEMBER(ended_ns), MEMBER(turns_ns), {NULL, 0, 0, 0, NULL},
};

static PyType_Slot type_slots[] = {
    {Py_tp_doc, "The two pipes of a bot, for exchanges in C."},
    {Py_tp_init, init},
    {Py_tp_dealloc, dealloc},
    {Py_tp_methods, methods},
    {Py_tp_members, members},
    {0, NULL},
};

static PyType_Spec type_spec = {
    .name = "_exchange.Pipes", .basicsize = sizeof(Pipes), .flags = Py_TPFLAGS_DEFAULT, .slots = type_slots};

static int fill(PyObject *module) {
    PyObject *type = PyType_FromSpec(&type_spec);
    if (type == NULL)
        return -1;
    int failed = PyModule_AddObject(module, "Pipes", type);
    if (failed)
        Py_DECREF(type);
    return failed;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "_exchange", .m_size = 0, .m_slots = slots};

PyMODINIT_FUNC PyInit__exchange(void) { return PyModuleDef_Init(&module); }
