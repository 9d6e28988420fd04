"""Two experiments, as their authors write them: one for guests that are stood in for, one for real ones."""

GOOD = """
title = "An experiment"
program = "prog"
arguments = "-n {threads} {kind}"
figure = "real_ns"
[run]
smp = 4
seeds = [1, 2]
[parameters]
threads = [1, 4, 8]
[configurations.bound]
model = "mxn"
parameters = { kind = "-b" }
[configurations.nt]
class = "NT"
parameters = { kind = "" }
[quick]
parameters = { threads = [4] }
seeds = [7]
[[tables]]
rows = "threads"
unit = "ms"
normalise = { threads = 1, configuration = "nt" }
[tables.paper]
file = "nt-solaris-table4.csv"
rows = "threads"
columns = { bound = "bound", nt = "nt" }
unit = "s"
[[claims]]
id = "same"
text = "The same."
kind = "ratio"
over = { configuration = "bound" }
under = { configuration = "nt" }
each = "threads"
at_least = 0.9
at_most = 1.1
"""

MINE = """
title = "Mine"
program = "pp"
arguments = "-vu -i {iterations} {more}"
patterns = ['^1 games completed in (?P<real_us>\\d+)us']
figure = "real_us"
[run]
smp = 2
timeout = 60
[parameters]
iterations = [50, 100]
[configurations.lwp]
model = "lwp"
parameters = { more = "" }
[configurations.wrong]
parameters = { more = "-y" }
[[claims]]
id = "longer"
text = "Twice as many take longer."
kind = "ratio"
where = { configuration = "lwp" }
over = { iterations = 100 }
under = { iterations = 50 }
at_least = 1
"""
