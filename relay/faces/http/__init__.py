"""The HTTP face: a Quart-Trio app under Hypercorn, made from one table of operations.

A request, from the socket inwards:

server        serve(), the end that is sure
listener      the listening socket, and the connections accepted from it
upstream      what Hypercorn and quart-trio do otherwise than is needed here
gateway       the one ASGI app: what every request passes, then a mounted app or the API
security      who may call: Host, Origin and token
rate_limit    how many requests a second a client may send
body_limit    a body comes whole and bounded, or not at all
app           make_app(), all of it put together
views         a route serves a request, by a view of Quart's or without
route_index   the route of a method and a path, for most requests
url_map       the routes as Quart's map, for the rest
near_routes   which route may be meant by a path that has none
answers       results and errors to responses
streams       answers that go on
sse           streams as Server-Sent Events

`faces/common/` has what requests are read, refused and failed with.

And what it is made from:

table         Route, and what an operation's signature says
routes        the lines of `relay.routes` with their operations
openapi       the table as an OpenAPI document
docs_page     that as one HTML page
pages         where both are served
metrics_page  what the relay counts, as Prometheus text
"""
