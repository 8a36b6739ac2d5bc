"""What several faces share: no face imports another.

- `background`: the relay that commands and editors find running, or start
- `own_streams`: standard input and output of a process that speaks a protocol on them
- `complaints`: what pydantic refuses, as {field, message, value}
- `failures`: whatever a request raised, as an error of the catalog
- `reading`: bytes of a request into typed arguments
- `actions`, `tool_actions`: what a client can do next, in routes of the API and of the tool API;
  `common_words`: the sentences that most faces share
- `tool_calls`: the calls of the tool API, for the faces that offer them
- `asgi`: ASGI's types, answers without a web framework, and the hub as faces over HTTP see it
"""
