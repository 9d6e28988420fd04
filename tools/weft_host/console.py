"""What comes over the guest's serial console: text, and weft's own escape sequences.

The guest talks to the host tool in operating-system commands, ESC ] weft ; WORDS BEL,
which a terminal ignores:

    ready          init has set the console up: input that comes earlier would be lost
    exit;STATUS    the last output of an orderly halt; STATUS is weft's exit status
    out;ADDR;SIZE  the list of the files that were asked for, in memory (handover.c)
    held;CPU       after exit: the guest stands still, ADDR is an address on this CPU
    panic          all that follows is a panic's report
    stands;VALUE   after the report, or after exit: the guest stands still; VALUE is what QEMU would have
                   ended with
"""

import re

PREFIX = b"\x1b]weft;"
BEL = 0x07
LONGEST = 64  # bytes of a whole sequence; anything longer is ordinary text


class ConsoleFilter:
    """Takes the sequences out of the stream, wherever reads happen to split it.

    crlf_to_lf: the console's driver sends each newline as CR LF; undo it.
    """

    def __init__(self, crlf_to_lf=False):
        self.ready = False
        self.status = None  # of the exit sequence
        self.manifest = None  # address and size
        self.held = None  # a CPU
        self.panicked = False
        self.report = b""  # of a panic
        self.stands = None  # the value of the stands sequence
        self._held = b""  # the beginning of what may be a sequence, or a CR
        self._crlf_to_lf = crlf_to_lf

    def feed(self, data):
        """Returns the program's part of the output so far."""
        data = self._held + data
        self._held = b""
        out = bytearray()
        position = 0
        while position < len(data):
            start = data.find(b"\x1b", position)
            if start < 0:
                start = len(data)
            out += self._route(data[position:start])
            if start == len(data):
                break
            end = self._sequence_end(data, start)
            if end is None:
                self._held = data[start:]
                break
            if data.startswith(PREFIX, start) and end - start > 1:
                self._command(data[start + len(PREFIX):end - 1])
            else:
                out += self._route(data[start:end])
            position = end
        return self._newlines(bytes(out))

    def finish(self):
        """The output has ended: what was held back is text after all."""
        held, self._held = self._held, b""
        return self._route(held)

    @staticmethod
    def _sequence_end(data, start):
        """Index after the sequence that starts here, start + 1 if none does, None: unknown yet."""
        head = data[start:start + len(PREFIX)]
        if not PREFIX.startswith(head):
            return start + 1
        end = data.find(BEL, start, start + LONGEST)
        if end >= 0:
            return end + 1
        return None if len(data) - start < LONGEST else start + 1

    def _command(self, words):
        word, _, argument = words.partition(b";")
        if word == b"ready":
            self.ready = True
        elif word == b"exit" and argument.isdigit():
            self.status = int(argument)
        elif word == b"held" and argument.isdigit() and self.status is not None:
            self.held = int(argument)
        elif word == b"out" and re.fullmatch(rb"\d+;\d+", argument):
            self.manifest = tuple(int(number) for number in argument.split(b";"))
        elif word == b"panic":
            self.panicked = True
        elif word == b"stands" and argument.isdigit() and (self.panicked or self.status is not None):
            self.stands = int(argument)

    def _route(self, text):
        if not self.panicked:
            return text
        self.report += text
        return b""

    def _newlines(self, text):
        if not self._crlf_to_lf:
            return text
        if text.endswith(b"\r"):
            # It may belong to a newline that comes with the next read.
            text, self._held = text[:-1], b"\r" + self._held
        return text.replace(b"\r\n", b"\n")
