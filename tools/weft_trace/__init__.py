"""What happens in the kernel and in the library, recorded without a change of what happens.

Recording: points.py, the probe points of a kernel; disassembly.py, its instructions; patch.py, a copy of the
kernel in which points lead to their stubs; ring.py, the records in the guest's memory.

Recording of programs: programs.py patches those of the RAM disk (cpioread.py); elf.py reads their files,
displaced.py says what a jump displaces in them, operands.py encodes what a stub records.

Records: library.py and naming.py put names in place of addresses; events.py has the record with names, and its
text.  stacks.py: the stacks of threads and LWPs that leave.

What they mean: model.py knows what the machine was at every moment.  objects.py and state.py have what it is made
of, dispatching.py the kernel's events, threads.py the library's, watcher.py what a model tells.

What is made of them: perfetto.py writes for the Perfetto viewer (protobuf.py is its wire format), tables.py writes
CSV, ctf.py the Common Trace Format; stats.py, workers.py and waits.py compute figures.  cost.py: what a record
costs.

The commands are tools/weft_host/tracecmd.py and statscmd.py.
"""
