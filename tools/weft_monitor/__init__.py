"""ThreadMon: threads, LWPs and CPUs of a running guest, on a page that a browser shows.

changes.py: the form of a recording, which is also what the page gets; story.py: makes changes of the records
of a trace; page.py and page/: the page; server.py: gives the page and the recording, live, to browsers;
terminal.py: the form for a terminal; scenes.py and scenes/: runs that are worth a look.  The command is
tools/weft_host/monitorcmd.py.
"""
