#include <Python.h>
static PyObject *count(PyObject *self, PyObject *args) {
    long n, odd = 0;
    if (!PyArg_ParseTuple(args, "l", &n))
        return NULL;
    for (long i = 0; i < n; i++)
        if (i % 2)
            odd++;
    return PyLong_FromLong(odd);
}
static PyMethodDef methods[] = {{"count", count, METH_VARARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "counting", 0, -1, methods};
PyMODINIT_FUNC PyInit_counting(void) { return PyModule_Create(&module); }
