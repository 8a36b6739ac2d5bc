"""The HTTP face: a Quart-Trio app under Hypercorn, made from one table of operations.

A request, from the socket inwards:

- `server`: serve(), the end that is sure; `listener`: the socket
- `protocol`: Hypercorn's HTTP/1.1, with the envelope also where it answers by itself
- `security`, `body_limit`, `disconnect_gate`: ASGI wrappers; `asgi`: what they share
- `app`: make_app(), all of it as one ASGI app; `connection`: a request in Quart
- `views`: one Quart view a route; `reading` and `complaints`: request to typed arguments
- `answers`, `streams`, `failures`: results, streams and exceptions to responses

And what it is made from:

- `table`: Route, and what an operation's signature says; `url_map`: compiled
- `routes`: the lines of `relay.routes` with their operations
- `openapi`, `docs_page`, `pages`: what the face says about itself
"""
