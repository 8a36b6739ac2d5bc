"""The suite: what the relay promises, shown on real debuggees.

Whole sessions, each through one face or one room:

e2e           over HTTP; its `conftest` and `api` serve most of the others
cli, client, editor, mcp, stdio, ui      shell commands, Python clients, editors, tools, lines, the page
deploy      several relays behind a proxy
failures, oracle      exceptions that end something; each step as CPython's own tracing saw it
faults      clients that do wrong, against a server of its own process
perl, versions        the Perl adapter; debugpy as old and as new as it may be
test_cli, test_run, test_run_ahead, test_run_calls, test_pytest_plugin, test_diff, test_diff_interpreters, test_diff_installed, test_diff_further_runs, test_diff_chance, test_demo,
test_faces_children, test_faces_errors, test_faces_interpreter, test_faces_ways       the `relay` command in a process of its own, and what all faces promise alike

Rooms by themselves:

agents, dap, session, debuggers, operations, http, logs, test_config, test_actions

The project's own rules:

test_layers, test_dependencies, test_words     imports, maps of folders, words
test_tools      what is said of a release: vulnerabilities, licences, the bytes of a wheel
test_add_a_verb, test_add_a_debugger, test_add_a_face     what a change costs, by doing it
docs, benchmarks      pages are complete and do what they say; benchmarks work
test_environments, test_habits       which Python runs which test; checks of a commit, version

What all use:

conftest, leftovers, test_leftovers      nothing may be left behind
environments      which tests one Python suffices for
programs          programs whose lines are found by marks
project_copy      a copy of the project, to be changed
relays            settings and patience of the relays that tests start
sources           the relay's files, for the tests that read them
virtual_environments      interpreters with packages of their own
"""
