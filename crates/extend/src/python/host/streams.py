# Standard input and output of a command, which are those of the whole process while it runs.


def _most_printed():
    """How many bytes of standard output and error can be told: an answer has room for both."""
    whole = int(min(_longest, 1 << 25)) - 4096
    return whole * 7 // 8, whole // 8


def _fitting(text, most):
    """As much of a text as has room, and whether that is all of it."""
    kept = text
    # Quotes stand around it.
    while len(_encoded(kept)) > most + 2:
        kept = kept[: len(kept) * 3 // 4]
    return kept, len(kept) == len(text)


class _Caught:
    """Standard output and error, as this process and those it starts write them, caught until it is left; and
    what was piped to Hermes as standard input, where it can be opened."""

    def __init__(self, path):
        self.path = path
        self.texts = ["", ""]
        self.cut = []

    def __enter__(self):
        import io

        self.kept = [os.dup(number) for number in range(3)]
        self.streams = sys.stdin, sys.stdout, sys.stderr
        self.wake, self.awake = os.pipe()
        self.ends = []
        for number in (1, 2):
            end, other = os.pipe()
            os.set_blocking(end, False)
            os.dup2(other, number)
            os.close(other)
            self.ends.append(end)
        self._take_input()

        def text(number, mode):
            raw = io.FileIO(number, mode, closefd=False)
            raw = io.BufferedReader(raw) if mode == "r" else raw
            return io.TextIOWrapper(raw, encoding="utf-8", errors="surrogateescape", write_through=True)

        sys.stdin, sys.stdout, sys.stderr = text(0, "r"), text(1, "w"), text(2, "w")
        self.parts = {end: [] for end in self.ends}
        self.room = dict(zip(self.ends, _most_printed()))
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return self

    def _take_input(self):
        if not self.path:
            return
        try:
            # A named pipe whose writer is gone must not be waited for.
            found = os.open(self.path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return
        os.set_blocking(found, True)
        os.dup2(found, 0)
        os.close(found)

    def _read(self):
        import select

        poll = select.poll()
        for end in (self.wake, *self.ends):
            poll.register(end, select.POLLIN)
        while True:
            ready = [end for end, _ in poll.poll()]
            last = self.wake in ready
            # At the end one look at each: more than a pipe holds was not written by then.
            for end in self.ends if last else ready:
                try:
                    chunk = os.read(end, 1 << 20)
                except BlockingIOError:
                    continue
                if self.room[end] > 0:
                    self.parts[end].append(chunk[: self.room[end]])
                self.room[end] -= len(chunk)
                if not chunk and not last:
                    poll.unregister(end)
            if last:
                return

    def __exit__(self, *error):
        for number, kept in enumerate(self.kept):
            os.dup2(kept, number)
            os.close(kept)
        sys.stdin, sys.stdout, sys.stderr = self.streams
        os.close(self.awake)
        self.reader.join()
        self.texts = [self._told(*stream) for stream in zip(("output", "error"), self.ends, _most_printed())]
        for end in (self.wake, *self.ends):
            os.close(end)

    def _told(self, name, end, most):
        """What was printed there, as much as can be told; where that is not all, a note comes behind it on standard
        error."""
        text, whole = _fitting(b"".join(self.parts[end]).decode("utf-8", "replace"), most)
        if not whole or self.room[end] < 0:
            self.cut.append("standard %s of the command is cut: only its first %d letters are told" % (name, len(text)))
        return text
