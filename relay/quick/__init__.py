"""The `relay` command without its imports: what is not here waits for hundreds of modules.

    shell     commands that a server carries out, help, the version; the rest is the whole command's
    run       `relay run` in a fork of a process that has imported all it needs
    server    where a server listens, and one request to it

Imports what an interpreter has loaded anyway, and modules in C.
"""
