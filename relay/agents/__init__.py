"""What `relay agent install` writes for each client of agents, and takes away again.

Knows where clients keep their settings, and the texts of those files. Refuses to know sessions,
debuggers and servers. Everything here blocks.

clients        each client: where it keeps what, and what it is given
installation   a plan of changes, and carrying it out
parts          what is installed: an entry of a document, an item of a list, a file of our own
jsonc          edits of JSON with comments that leave every other byte as it is
toml_tables    the same for a table in TOML
record         what was made from nothing, so that it can be unmade
failed_tests   the hook: whether a test run failed, and the offer
texts          the skill and the sub-agent
"""
