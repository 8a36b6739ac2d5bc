"""What the program's threads, tasks and greenlets wait for, found without a stop.

hang            all threads as they are: where each is, what it waits for, whether it runs
signalled_stacks  all stacks, written at a signal while C code keeps the interpreter
primitive_states  how full a queue is, whether an event is set, a thread has ended
quiet           locals of a frame that runs, as text: no `__repr__` is called
thread_waits    what a thread waits for, by three witnesses
library_waits   the first of them: functions of the standard library that it stands in
found_wait      what one thread waits for, as it is told
known_waits     functions of libraries in which threads and tasks wait
descriptors     file descriptors and system calls by name
child_processes  child processes by name, and how those have ended that are over
file_locks      which processes have locked a file
databases       which database of SQLite is locked, and by which process
pipes           child processes that wait at a pipe of this one
holders         who holds a lock
left_behind     locks of a fork's parent that its threads had
permits         who has the permits of a semaphore
connection_pools  who has the connections of a pool of SQLAlchemy's
tornado_waits   locks and queues of Tornado that a task waits for
pools           whose work a future is
resting_tasks   the tasks that are suspended, and whether each stays where it is
thread_work     which thread does what a task waits for
process_pools   what a result of multiprocessing's pools waits for
tests_run       which test a thread runs
found_task      a task of any library, and what the listing needs of it
tasks           tasks and greenlets, and what each waits for, as data
asyncio         where asyncio keeps its tasks
trio            the tree of trio's tasks
greenlets       which greenlets there are
awaits          where a coroutine stands
task_limits     which tasks wait for a limited time
task_waits      what a task waits for
greenlet_waits  what a greenlet waits for
"""
