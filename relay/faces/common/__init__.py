"""What several faces share: no face imports another.

background    the relay that commands and editors find running, or start
local_url     where clients on its machine reach a server
own_streams   standard input and output of a process that speaks a protocol on them
client_name   who sends a request over HTTP, and what it asks
reading       bytes of a request into typed arguments
failures      whatever a request raised, as an error of the catalog
actions       what a client can do next, in routes of the API
tool_actions  the same in routes of the tool API
common_words  sentences for it that most faces share
tool_calls    the calls of the tool API, for the faces that offer them
asgi          ASGI's types, answers without a web framework, and the hub as faces over HTTP see it
"""
