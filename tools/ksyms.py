"""Turns `nm -n kernel.elf` (stdin) into the assembly source of the kernel's symbol table.

The table (cpu/backtrace.c reads it) is a count, an array of pairs sorted by address
(offset from __text_start, offset into the names), and the names, each with its NUL.
"""

import sys


def main():
    base = None
    symbols = []
    for line in sys.stdin:
        fields = line.split()
        if len(fields) != 3:
            continue
        address, kind, name = int(fields[0], 16), fields[1], fields[2]
        if name == "__text_start":
            base = address
        elif name == "__text_end":
            break
        elif base is not None and kind in "tTwW" and not name.startswith("."):
            if symbols and symbols[-1][0] == address - base:
                continue
            symbols.append((address - base, name))
    if base is None or not symbols:
        sys.exit("ksyms: no text symbols in the input")

    out = ['.section .ksyms,"a"', ".balign 8", f".long {len(symbols)}"]
    offset = 0
    for address, name in symbols:
        out.append(f".long {address}, {offset}")
        offset += len(name) + 1
    out += [f'.asciz "{name}"' for _, name in symbols]
    out.append('.section .note.GNU-stack,"",@progbits')
    print("\n".join(out))


main()
