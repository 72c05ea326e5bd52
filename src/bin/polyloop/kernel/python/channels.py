# The channels to the host, and what comes over them.

class Record(dict):
    """A JSON object whose keys are attributes too, in snake_case and in camelCase."""

    def __getattr__(self, name):
        if name in self:
            return dict.__getitem__(self, name)
        snake = "".join("_" + char.lower() if char.isupper() else char for char in name)
        if snake in self:
            return dict.__getitem__(self, snake)
        if name == "text" and "content" in self:
            # The host leaves the text out where the content is one block of text.
            return "".join(block["text"] for block in self["content"] if block.get("type") == "text")
        raise AttributeError("there is no %r here, but %s" % (name, ", ".join(map(str, self)) or "nothing"))

    def __setattr__(self, name, value):
        self[name] = value

    def __dir__(self):
        return sorted(set(dict.__dir__(self)).union(key for key in self if type(key) is str))


read_json = json.JSONDecoder(object_hook=Record).scan_once
if json.encoder.c_make_encoder is None:
    write_json = json.JSONEncoder().encode
else:
    encode = json.encoder.c_make_encoder(
        None, None, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, True
    )

    def write_json(value):
        return "".join(encode(value, 0))


class Channel:
    """Frames of JSON: four bytes of length, the most significant first, and the text."""

    LONGEST_QUESTION = 16 << 20

    def __init__(self, fd):
        private = duplicate(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD)
        os.close(fd)
        self.socket = _socket.socket(fileno=private)
        self.lock = allocate_lock()
        self.asking = set()

    def send(self, value, most=None):
        data = str.encode(write_json(value), "ascii")
        if most is not None and len(data) > most:
            raise ContextError(
                "request.limit", "this is too long to be asked: %d bytes" % len(data), "ask about less at once"
            )
        self.socket.sendall(pack(">I", len(data)) + data)

    def receive(self):
        """The next value; None once the host is gone."""
        head = self.take(bytearray(4))
        if head is None:
            return None
        count = unpack(">I", head)[0]
        try:
            data = bytearray(count)
        except MemoryError:
            while count:
                count -= len(self.socket.recv(min(count, 1 << 16))) or count
            raise
        data = self.take(data)
        return None if data is None else read_json(str(data, "utf-8"), 0)[0]

    def take(self, data):
        left = memoryview(data)
        while left:
            taken = self.socket.recv_into(left, min(len(left), 1 << 20))
            if not taken:
                return None
            left = left[taken:]
        return data

    def ask(self, question):
        if getpid() != OWN_PID:
            raise ContextError("kernel.process", "only the kernel's own process can ask the context")

        if get_ident() in self.asking:
            # To wait here would be to wait for what this has interrupted.
            raise ContextError(
                "kernel.process", "a question is already on its way in this thread", "ask outside of finalizers"
            )
        answer = self.exchange(question) if get_ident() != MAIN_THREAD else apart(lambda: self.exchange(question))
        if answer is None:
            raise ContextError("kernel.process", "the kernel has ended")
        if "error" in answer:
            error = answer["error"]
            raise ContextError(error["code"], error["message"], error.get("hint"))
        return answer["answer"]

    def exchange(self, question):
        self.asking.add(get_ident())
        try:
            with self.lock:
                self.send(question, self.LONGEST_QUESTION)
                return self.receive()
        finally:
            self.asking.discard(get_ident())


def apart(do):
    """Does it in a thread of its own: there no handler of a signal cuts a frame, and one that asks too can wait."""
    outcome, done = [], allocate_lock()

    def run():
        try:
            outcome.append((do(), None))
        except BaseException as error:
            outcome.append((None, error))
        done.release()

    done.acquire()
    try:
        start_thread(run, ())
    except RuntimeError:
        # There is no room for a thread, or the interpreter is about to end.
        return without_interrupt(do)
    done.acquire()
    answer, error = outcome[0]
    if error is not None:
        raise error
    return answer


def sendable(text):
    """The text with lone surrogates, which have no bytes, shown as Python escapes them."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
