"""Two runs of a program compared: each recorded call by call, then matched.

two_runs         both runs, and the first call that went otherwise
side_runs        the runs of both sides, made and read one after the other
without_chance   what two runs differ in, with as many further ones as tell that from chance
answer           that in words, with what is known of runs that were ended early
sides            what is to be compared: two commands, or one in two trees
worktree         a revision of a git repository, in a directory of its own
tree_paths       folders of a tree that an interpreter imports from
scratch          the directory of one comparison, and what killed ones have left
recorded_run     one run, recorded into a file
equal_chance     what the runs of both sides have alike, though the program leaves it to chance
failure_words    the line of what it printed that says what failed
readings         all runs of a comparison, each read once
stream_reader    that file, read
recorded_calls   its calls as numbers: which are equal, how each ended
comparable_text  texts without what differs from run to run
defaults         defaults of parameters that two trees write otherwise
whole_calls      which calls are recorded with all that their values store, where that is too much for all
drawn            ids in texts that are drawn by lot
moments          times in texts that are those of the runs
known_functions  which functions the tree of the other run has, too
matching         which call of one run is which of the other
differences      what they differ in
chance           what two runs of one side differ in
difference_text  what the runs differ in, as text
fitting          lines of that within its bound
"""
