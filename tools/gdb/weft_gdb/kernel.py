"""The kernel's processes and LWPs, as GDB sees them."""

import gdb

from .memory import UserMemory

LWP_STATES = ("IDLE", "RUN", "ONPROC", "SLEEP", "STOP", "ZOMB")
USER_REGISTERS = ("rip", "rsp", "rbp", "rbx", "r12", "r13", "r14", "r15")


def _file_of(function):
    """The names that the kernel's file that defines this function knows: a program may have the
    same, as libthread has a struct lwp of its own."""
    symbol = gdb.lookup_global_symbol(function)
    if symbol is None:
        raise gdb.GdbError("these are not the symbols of the weft kernel")
    return symbol.symtab.static_block()


def kernel_type(name, known_by):
    """A type of the kernel, as the file that defines the function `known_by` sees it."""
    return gdb.lookup_type(name, _file_of(known_by))


def kernel_variable(name, known_by):
    """The value of a static variable of the file that defines the function `known_by`."""
    return gdb.lookup_symbol(name, _file_of(known_by))[0].value()


def lwp_type():
    return kernel_type("struct lwp", "sched_switch")


def proc_type():
    return kernel_type("struct proc", "proc_find")


def container(link, outer, member):
    """The structure around the list node at this address."""
    offset = next(f for f in outer.fields() if f.name == member).bitpos // 8
    return gdb.Value(int(link) - offset).cast(outer.pointer()).dereference()


def list_items(head, outer, member):
    """The structures on a struct list (kern/list.h)."""
    end = int(head.address)
    link = head["next"]
    while int(link) not in (0, end):
        yield container(link, outer, member)
        link = link["next"]


def processes():
    """Every struct proc, in order of creation."""
    return list_items(gdb.parse_and_eval("all_procs"), proc_type(), "all_link")


def find_process(pid):
    for proc in processes():
        if int(proc["pid"]) == pid:
            return proc
    raise gdb.GdbError(f"there is no process {pid}")


def process_lwps(proc):
    """A process's LWPs, also those that have exited and wait to be waited for."""
    yield from list_items(proc["lwps"], lwp_type(), "proc_link")
    yield from list_items(proc["zombies"], lwp_type(), "proc_link")


def proc_name(proc):
    return proc["name"].string(errors="replace")


def lwp_state(lwp):
    number = int(lwp["state"])
    return LWP_STATES[number] if number < len(LWP_STATES) else str(number)


def lwp_wchan(lwp):
    wchan = lwp["wchan"]
    return wchan.string(errors="replace") if int(wchan) and lwp_state(lwp) == "SLEEP" else ""


def syscall_name(number):
    """The name of a system call, or '' for none."""
    if number == 0xFFFFFFFF:
        return ""
    symbol = gdb.lookup_symbol("SYS_null")[0]
    fields = symbol.type.fields() if symbol is not None else ()
    return next((f.name[4:] for f in fields if f.enumval == number), str(number))


def where(address):
    """SYMBOL+OFFSET (FILE:LINE), as far as they are known."""
    said = gdb.execute(f"info symbol {address:#x}", to_string=True)
    if said.startswith("No symbol"):
        return f"{address:#x}"
    name = said.split(" in section")[0].replace(" + ", "+")
    line = gdb.find_pc_line(address)
    if line.symtab is not None and line.line:
        name += f" ({line.symtab.filename.rpartition('/')[2]}:{line.line})"
    return name


def function_start(address):
    """Where the function begins that this instruction is in; None: not known."""
    said = gdb.execute(f"info symbol {address:#x}", to_string=True)
    if said.startswith("No symbol"):
        return None
    offset = said.split(" in section")[0].partition(" + ")[2]
    return address - int(offset or 0)


def user_memory(proc):
    return UserMemory(int(proc["as"]["pml4"]))


def user_registers(lwp, vcpus):
    """Its registers in user mode: those of its CPU, or those saved at its entry to the kernel."""
    for vcpu in vcpus:
        if vcpu.user and int(vcpu.lwp) == int(lwp.address):
            return vcpu.registers
    frame = lwp["frame"]
    return {name: int(frame[name]) for name in USER_REGISTERS}
