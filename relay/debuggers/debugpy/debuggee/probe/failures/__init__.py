"""Failures: exceptions that end something of the program, shown from their tracebacks.

An exception ends a test, a thread, a task, a request, a job or the process when nothing of the
program handles it. Whoever learns of that (a test runner, a framework, a hook of Python's) holds
the exception, and its traceback still has every frame as it was left: the stop is made from there.
Nothing is traced for it. Files of the probe, like those beside this directory.

watching        the call by which the relay asks for stops at failures
failing         the one stop that is made of a failure, whoever learns of it
post_mortem     a thread suspended, and pydevd given the frames of the traceback
raised_frames   where each frame raised, and whether its locals are still those of then
example_lines   where the examples of a doctest stand
remote          places of other processes and texts, known from what the exception says
rewritten       tracebacks that a library has rewritten, as they were before
request_names   what a client has asked for, as reports say it
own_code        which code is the program's own
imports         what is to be done in a module as soon as it is there
listening       functions of libraries, wrapped once for all that listen
pytest_test     the test that pytest runs now
inner_tests     tests that are run by a test, for it to judge
noted           what fails while a test runs on, or is text in its report
pytest_ids      ids of pytest's tests as it prints them
time_limits     time limits of pytest-timeout, as without a debugger
warned          warnings of pytest's that fail a test, and what they speak of
ends_pytest     tests that fail under pytest
ends_tests      tests that fail: unittest, nose2, Zope's runner, trial
ends_doctest    examples of doctests that fail
ends_testtools  cases of testtools
ends_runners    tests of ward, modules that green cannot import
ends_examples   examples and scenarios: mamba, TestSlide, vedro, xdoctest
ends_steps      scenarios and test cases: behave, Robot Framework
ends_threads    threads, futures, jobs of a pool, processes of multiprocessing
ends_loops      tasks and callbacks whose exception nobody takes
ends_requests   requests that a framework answers with an error of its own
ends_twisted    Deferreds, calls of the reactor, requests; spiders and items of Scrapy
ends_jobs       jobs of celery, rq, dramatiq and huey; commands that a runner of click's calls
ends_logged     what a server, loop or scheduler says in its log alone
ends_process    the exception that ends the process
exits           os._exit, which ends it without one
"""
