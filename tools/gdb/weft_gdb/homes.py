"""A breakpoint belongs to the process in whose inferior it was set.

GDB gives a breakpoint a location in each inferior that has a function of that name, and all programs have a main.
So the locations in other processes are disabled here.  `enable NUMBER.LOCATION` enables one.  When the process
has ended, the breakpoint passes on to the next process of the same program.
"""

import gdb

from .inferiors import KERNEL, after_meeting

_homes = {}  # number of a breakpoint: (number of its inferior, its program)
_seen = {}  # number of a breakpoint: (address, inferior) of its locations that have been looked at
_busy = False


def _locations(breakpoint):
    """[(location, numbers of its inferiors)]; GDB 12 tells of none."""
    if breakpoint.number <= 0 or breakpoint.type != gdb.BP_BREAKPOINT:
        return []
    return [(location, set(location.thread_groups or ())) for location in getattr(breakpoint, "locations", ())]


def created(breakpoint):
    home = gdb.selected_inferior()
    if any(home.num in groups for _, groups in _locations(breakpoint)):
        _homes[breakpoint.number] = home.num, home.progspace.filename
    modified(breakpoint)


def _home(breakpoint, locations):
    """The number of its inferior; None: it stops in all."""
    if breakpoint.number not in _homes:
        return None
    number, program = _homes[breakpoint.number]
    living = {inferior.num: inferior for inferior in gdb.inferiors() if inferior.pid}
    if number in living:
        return number
    for other in sorted(set().union(*(groups for _, groups in locations)) & living.keys() - {KERNEL}):
        if living[other].progspace.filename == program:
            _homes[breakpoint.number] = other, program
            _seen.pop(breakpoint.number, None)
            return other
    return number


def modified(breakpoint):
    """Of locations that are new, leaves those of its own process enabled."""
    global _busy
    if _busy:
        return
    _busy = True
    try:
        locations = _locations(breakpoint)
        home = _home(breakpoint, locations)
        if home is None:
            return
        seen = _seen.setdefault(breakpoint.number, set())
        living = {inferior.num for inferior in gdb.inferiors() if inferior.pid}
        for location, groups in locations:
            if not groups <= living:
                continue  # GDB is making this inferior
            key = location.address, tuple(sorted(groups))
            if key not in seen and location.enabled != (home in groups):
                location.enabled = home in groups
            seen.add(key)
    finally:
        _busy = False


def deleted(breakpoint):
    _homes.pop(breakpoint.number, None)
    _seen.pop(breakpoint.number, None)


def look_again():
    """There are new inferiors."""
    for breakpoint in gdb.breakpoints():
        modified(breakpoint)


after_meeting.append(look_again)
gdb.events.breakpoint_created.connect(created)
gdb.events.breakpoint_modified.connect(modified)
gdb.events.breakpoint_deleted.connect(deleted)
