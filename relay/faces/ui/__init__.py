"""The page for people at `/ui/`: files, and nothing else. What it shows, it asks of the API.

http       the files over HTTP, with headers that let nothing else into the page
command    `relay ui`
static     the page itself: a module of JavaScript for each noun, no build step
"""
