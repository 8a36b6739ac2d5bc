"""Values as variables: their types, texts, contents and attributes, masked where they are secrets.

types        a type's name, bases and family, asked of the type and never of the object
text         one value as text, within a budget
writers      how each of Python's own types is written
members      what a value contains or has, each as one thing with a name
contents     how many items of which kind, and a page of them
attributes   what is stored, never computed
tables       frames, series and rows of libraries, by their columns
variables    one variable as JSON
pages        children a page at a time: contents, then attributes
references   numbers that stand for values until the program runs on
secrets      what is secret by its name; the relay imports it, too
credentials  what is secret by its shape; the relay imports it, too
"""
