"""The HTTP face: a Quart-Trio app under Hypercorn, made from one table of operations.

A request, from the socket inwards:

- `server`: serve(), the end that is sure; `listener`: the socket
- `upstream`: what Hypercorn and quart-trio do otherwise than is needed here
- `gateway`: the one ASGI app: `security` and `body_limit`, then a mounted app or Quart
- `app`: make_app(), all of it put together
- `views`: one Quart view a route, and its arguments
- `answers`, `streams`, `sse`: results and streams to responses

`faces/common/` has what requests are read, refused and failed with.

And what it is made from:

- `table`: Route, and what an operation's signature says; `url_map`: compiled
- `routes`: the lines of `relay.routes` with their operations
- `openapi`, `docs_page`, `pages`: what the face says about itself
"""
