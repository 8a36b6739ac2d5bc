"""Sessions and their programs: create, launch, attach, end, export, wait."""
