"""The commands of sessions, which a server holds.

shell         what all session commands share: which session, what is shown, exit codes
caller        who gives a command: a shell, by its directory, environment, terminal and server
local_client  the blocking client within the server's own process
served        commands that the server carries out for the quick half of a shell
memory        which session was last used in a directory
starting      `relay start`, `attach`, `restart`, `sessions`
running       `relay continue`, `step`, `until`, `pause`, `where`
stop_display  the program let go, and what happens next shown
inspecting    `relay eval`, `stack`, `locals`, `break`
watch         `relay watch`
why           `relay why`
hang          `relay hang`
streams       `relay output`, `input`
ending        `relay end`, `stop`
"""
