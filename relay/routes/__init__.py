"""The one table of routes: what the API offers, without how it is done or carried.

- `endpoint`: one line of the table, which is a method of both clients as well
- `server`, `sessions`, `breakpoints`, `execution`, `inspection`, `output`: the lines
- `refusals`: errors that several lines share
- `table`: all lines in the order of the reference, and the groups that the clients inherit

`faces/http/routes.py` finds each line's operation by its name and compares their models; the
OpenAPI document and the reference are made of that. This package imports models and errors,
and neither operations nor faces.
"""
