"""A guest that stands still, as a debugger knows it: processes, LWPs, threads, what waits for what."""
