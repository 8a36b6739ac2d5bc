"""Failures: exceptions that end something of the program, shown from their tracebacks.

An exception ends a test, a thread, a task, a request, a job or the process when nothing of the
program handles it. Whoever learns of that (a test runner, a framework, a hook of Python's) holds
the exception, and its traceback still has every frame as it was left: the stop is made from there.
Nothing is traced for it. Files of the probe, like those beside this directory.
"""
