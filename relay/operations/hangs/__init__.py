"""Where a program hangs: who waits for what, and who holds it.

hang_report  the verb: what each thread waits for, found without a stop
deadlocks    threads and tasks that wait for each other in a circle
hang_text    the report as text that fits
"""
