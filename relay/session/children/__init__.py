"""Processes that the program starts: found, joined to the session, debugged with it.

discovery            each is announced once, however it became known
joining              the way in which they come, as the group asks for it
join_port            the socket where those come that are to be debugged
child_joining        who was announced, who has connected, who has not in time
asked_sessions       those for which the adapter asks: one more connection to it for each
child                one of them under the debugger
lost_children        how those were lost that are gone, the cause ahead of what followed
process_group        the program with them: threads, requests and stops of several processes
"""
