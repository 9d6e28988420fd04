"""What happens in the kernel, recorded without a change of what happens.

points.py: the probe points of a kernel; disassembly.py: its instructions; patch.py: a copy of the kernel in
which points lead to their stubs; ring.py: the records in the guest's memory; naming.py: names in place of
addresses; events.py: a record with names, and its text; model.py: what the machine was at every moment; objects.py: what
a model is made of.  The command is tools/weft_host/tracecmd.py.
"""
