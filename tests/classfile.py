"""Writes class files that no compiler makes, for the tests of the Java machine."""

import struct

PUBLIC, STATIC, FINAL, INTERFACE, ABSTRACT = 1, 8, 16, 0x200, 0x400


class ClassFile:
    """A class of Java 8. Code is bytes, in which `class_`, `member` and `text` give the indexes of constants."""

    def __init__(self, name, parent="java/lang/Object", interfaces=(), access=PUBLIC | 0x20):
        self._pool, self._index = [], {}
        self._access = access
        self._names = [self.class_(name), self.class_(parent)]
        self._interfaces = [self.class_(each) for each in interfaces]
        self._fields, self._methods, self._bootstraps = [], [], []

    def _constant(self, data):
        if data not in self._index:
            self._pool.append(data)
            self._index[data] = len(self._pool)
        return self._index[data]

    def utf8(self, text):
        return self._constant(b"\x01" + struct.pack(">H", len(text)) + text.encode())

    def class_(self, name):
        return self._constant(b"\x07" + struct.pack(">H", self.utf8(name)))

    def text(self, text):
        return self._constant(b"\x08" + struct.pack(">H", self.utf8(text)))

    def member(self, kind, owner, name, desc):
        """kind: 9 a field, 10 a method, 11 a method of an interface."""
        named = self._constant(b"\x0c" + struct.pack(">HH", self.utf8(name), self.utf8(desc)))
        return self._constant(struct.pack(">BHH", kind, self.class_(owner), named))

    def number(self, value):
        return self._constant(b"\x03" + struct.pack(">i", value))

    def method_type(self, desc):
        return self._constant(b"\x10" + struct.pack(">H", self.utf8(desc)))

    def handle(self, kind, member):
        """kind: JVMS 4.4.8."""
        return self._constant(b"\x0f" + struct.pack(">BH", kind, member))

    def call_site(self, name, desc, bootstrap, *arguments):
        """What an invokedynamic names: `bootstrap` is a handle, the arguments are constants."""
        self._bootstraps.append(struct.pack(">HH", bootstrap, len(arguments)) +
                                b"".join(struct.pack(">H", each) for each in arguments))
        named = self._constant(b"\x0c" + struct.pack(">HH", self.utf8(name), self.utf8(desc)))
        return self._constant(b"\x12" + struct.pack(">HH", len(self._bootstraps) - 1, named))

    def method(self, name, desc, code=None, access=PUBLIC | STATIC, stack=8, places=8):
        """code: None, of an abstract method; or bytes. It has no branches, and so no StackMapTable."""
        head = struct.pack(">HHH", access, self.utf8(name), self.utf8(desc))
        if code is None:
            self._methods.append(head + b"\0\0")
            return
        body = struct.pack(">HHI", stack, places, len(code)) + code + b"\0\0\0\0"
        self._methods.append(head + b"\0\1" + struct.pack(">HI", self.utf8("Code"), len(body)) + body)

    def constructor(self):
        call = self.member(10, "java/lang/Object", "<init>", "()V")
        self.method("<init>", "()V", b"\x2a\xb7" + struct.pack(">H", call) + b"\xb1", PUBLIC)

    def bytes(self):
        def table(rows):
            return struct.pack(">H", len(rows)) + b"".join(rows)

        sites = table(self._bootstraps)
        attributes = []
        if self._bootstraps:
            attributes = [struct.pack(">HI", self.utf8("BootstrapMethods"), len(sites)) + sites]
        return (struct.pack(">IHHH", 0xcafebabe, 0, 52, len(self._pool) + 1) + b"".join(self._pool) +
                struct.pack(">HHH", self._access, *self._names) +
                table([struct.pack(">H", each) for each in self._interfaces]) +
                table(self._fields) + table(self._methods) + table(attributes))
