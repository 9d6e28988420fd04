"""Makes a CD image on which GRUB loads the kernel and the initial RAM disk (Multiboot2).

Runs outside of the virtual environment, since the Makefile calls it:

    iso.py IMAGE KERNEL INITRD [KERNEL-COMMAND-LINE]
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

GRUB_CFG = """\
set timeout=0
menuentry weft {{
	multiboot2 /boot/weft.elf {cmdline}
	module2 /boot/initrd.cpio
}}
"""

MISSING = """\
a bootable CD image needs grub-mkrescue, GRUB's i386-pc modules, xorriso and mformat:
install the packages grub-pc-bin, grub-common, xorriso and mtools (`make setup` does)"""


class IsoError(Exception):
    """The image cannot be made; the text says why."""


def grub_mkrescue():
    """The command, under whatever name.  Raises IsoError."""
    for name in ("grub-mkrescue", "grub2-mkrescue", "i686-elf-grub-mkrescue",
                 "x86_64-elf-grub-mkrescue"):
        if shutil.which(name):
            return name
    raise IsoError(MISSING)


def make(image, kernel, initrd, cmdline):
    """Writes `image`, in one rename.  Raises IsoError."""
    tool = grub_mkrescue()
    if not shutil.which("xorriso") or not shutil.which("mformat"):
        raise IsoError(MISSING)
    image = Path(image)
    with tempfile.TemporaryDirectory(prefix="iso.", dir=image.parent) as work:
        boot = Path(work) / "root/boot"
        (boot / "grub").mkdir(parents=True)
        shutil.copyfile(kernel, boot / "weft.elf")
        shutil.copyfile(initrd, boot / "initrd.cpio")
        (boot / "grub/grub.cfg").write_text(GRUB_CFG.format(cmdline=cmdline))
        # Only what the menu entry needs: the image is a tenth of the size, and made sooner.
        command = [tool, "--fonts=", "--locales=", "--themes=",
                   "--install-modules=multiboot2 normal iso9660 biosdisk part_msdos",
                   "-o", f"{work}/weft.iso", f"{work}/root"]
        modules = Path("/usr/lib/grub/i386-pc")
        if modules.is_dir():
            command[1:1] = ["-d", str(modules)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise IsoError(f"{tool} failed:\n{done.stderr.strip()}\n{MISSING}")
        os.replace(f"{work}/weft.iso", image)


def main(argv):
    if len(argv) not in (3, 4):
        sys.exit("usage: iso.py IMAGE KERNEL INITRD [KERNEL-COMMAND-LINE]")
    try:
        make(argv[0], argv[1], argv[2], argv[3] if len(argv) == 4 else "quiet")
    except IsoError as error:
        sys.exit(f"iso: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])
