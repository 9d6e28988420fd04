"""The address space of a process, with the pages that are not present.

A page is brought in when it is first touched (kernel/mm/fault.c).  Before that it has no entry in the page
tables; its bytes are those of the file that is mapped there, or zeros.  While a page is copied because it is
written to (copy_on_write), its entry is not present, but has the address of the page as it was.
"""

from .layout import Layout, LayoutError, Object
from .memory import FRAME, KDIRECT, PAGE, MemoryFault, Physical, Space

DEEPEST = 64  # of a balanced tree
FILE_BITS, MOST_LEVELS = 9, 4  # of a file's tree of pages (kernel/mm/pageset.c)


class UserSpace(Space):
    """layout: the kernel's.  space: the kernel's struct address_space."""

    def __init__(self, physical: Physical, layout: Layout, space: Object) -> None:
        super().__init__(physical, space["pml4"].number())
        self._layout = layout
        self._as = space

    def missing(self, address: int, size: int, entry: int) -> bytes:
        """Bytes of one page that is not present."""
        try:
            return self._page(address & -PAGE, entry)[address % PAGE:][:size]
        except (MemoryFault, LayoutError):
            raise MemoryFault(address) from None

    def _mapping(self, address: int) -> Object:
        """The mapping that contains the address.  Raises MemoryFault."""
        kind = self._layout.type("struct mapping")
        node = self._as["mappings"]["root"].number()
        for _ in range(DEEPEST):
            if node == 0:
                break
            m = Object(self._as.space, kind, node - kind.offset("node"))
            start, end = m["start"].number(), m["end"].number()
            if start <= address < end:
                return m
            node = m["node"]["child"][int(address >= end)].number()
        raise MemoryFault(address)

    def _page(self, address: int, entry: int) -> bytes:
        m = self._mapping(address)
        if m["prot"].number() == 0:
            raise MemoryFault(address)
        if entry != 0:
            return self.physical.read(entry & FRAME, PAGE)
        offset = m["off"].number() + address - m["start"].number()
        size = min(PAGE, m["file_end"].number() - offset)
        if m["vnode"].number() == 0 or size <= 0:
            return bytes(PAGE)
        return self._file_page(m["vnode"].number(), offset // PAGE)[:size].ljust(PAGE, b"\0")

    def _file_page(self, vnode: int, index: int) -> bytes:
        """Of a file of tmpfs: the initial RAM disk is one, and all that the guest has written."""
        f = Object(self._as.space, self._layout.type("struct tmpfs_file", "fs/tmpfs_file.c"), vnode)
        if f["vn"]["ops"].number() != self._layout.variable("file_ops", "fs/tmpfs_file.c")[0]:
            raise MemoryFault(vnode)
        pages = f["pages"]
        levels, node = pages["levels"].number(), pages["root"].number()
        if levels > MOST_LEVELS:
            raise MemoryFault(vnode)
        if index >> FILE_BITS * levels:
            return bytes(PAGE)
        for level in range(levels, 0, -1):
            if node == 0:
                return bytes(PAGE)
            slot = index >> FILE_BITS * (level - 1) & (1 << FILE_BITS) - 1
            node = f.space.word(KDIRECT + node + 8 * slot)
        return self.physical.read(node, PAGE) if node else bytes(PAGE)
