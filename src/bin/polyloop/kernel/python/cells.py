# The cells.

# Characters of a result, a message or a traceback: all three, and each escaped, fit into a frame.
MOST_SENT = 1 << 20


def bounded(text):
    """The text as it can be sent, and how many characters in its middle were left out."""
    most = min(OPTIONS["max_output"], MOST_SENT)
    if len(text) > most:
        left_out = len(text) - most
        text = "%s… %d characters left out …%s" % (text[:most // 2], left_out, text[len(text) - most // 2:])
    return sendable(text)


def described(value):
    """What an exception says."""
    try:
        return bounded(str(value))
    except KeyboardInterrupt:
        raise
    except BaseException:
        return "<it could not say what>"


def own_frames_left_out(trace):
    seen, open_traces = set(), [trace]
    while open_traces:
        trace = open_traces.pop()
        if trace is None or id(trace) in seen:
            continue
        seen.add(id(trace))
        trace.stack = StackSummary.from_list([frame for frame in trace.stack if frame.filename != OWN_FILE])
        open_traces += [trace.__cause__, trace.__context__] + list(getattr(trace, "exceptions", None) or [])


def show(kind, value, trace):
    """Shows an exception at the prompt."""
    trace = TracebackException(kind, value, trace)
    own_frames_left_out(trace)
    print("".join(trace.format()), end="", file=sys.stderr)


def failure(kind, value):
    """An exception as the answer holds it."""
    name = sendable(name_of_type(kind)[:MOST_CHARS])
    try:
        if issubclass(kind, SystemExit):
            code = value.code
            exit_code = code if type(code) is int and abs(code) < 1 << 31 else 0 if code is None else 1
            message = "the cell ended itself; its process goes on"
            if code is not None and type(code) is not int:
                message += ": " + described(code)
            return {"kind": "exit", "type": name, "message": message, "exit_code": exit_code, "traceback": None}
        kind_of_error = "interrupted" if issubclass(kind, KeyboardInterrupt) else "exception"
        # First, for what it says may be interrupted here, and is asked again for the traceback.
        message = described(value)
        trace = TracebackException(kind, value, value.__traceback__)
        own_frames_left_out(trace)
        text = bounded("".join(trace.format()))
        return {"kind": kind_of_error, "type": name, "message": message, "traceback": text}
    except BaseException:
        return {"kind": "exception", "type": name, "message": "<it could not be shown>", "traceback": None}


def compiled(source, name):
    """The statements of a cell, and the expression it ends in."""
    tree = compile(source, name, "exec", parse_only, True)
    last = None
    if tree.body and type(tree.body[-1]) is Expr:
        last = Expression(tree.body.pop().value)
    return compile(tree, name, "exec", 0, True), None if last is None else compile(last, name, "eval", 0, True)


def run(source):
    name = "<cell %d>" % revision
    linecache_of[name] = (len(source), None, [line + "\n" for line in source.split("\n")], name)
    result = error = None
    try:
        interrupts.is_wanted = True
        # From now on the host may interrupt the cell.
        without_interrupt(lambda: cells.send({"revision": revision, "started": True}))
        try:
            try:
                statements, last = compiled(source, name)
                exec(statements, namespace)
                if last is not None:
                    value = eval(last, namespace)
                    result = None if value is None else bounded(repr(value))
                    value = None
            finally:
                # What a cell has set to watch its own code is not called for ours; it is gone once it has raised.
                while True:
                    try:
                        set_profile(None)
                        set_trace(None)
                        break
                    except BaseException:
                        continue
        except BaseException as raised:
            # Saying what went wrong may run code of the cell too, and so may be interrupted.
            error = failure(type(raised), raised)
    except KeyboardInterrupt:
        error = {"kind": "interrupted", "type": "KeyboardInterrupt", "message": "", "traceback": None}
    settle()
    return result, error


def settle():
    """Nothing of a cell is in the way of what comes between cells."""
    while True:
        try:
            interrupts.is_wanted = False
            interrupts.is_pending = False
            return
        except KeyboardInterrupt:
            continue


def prepare():
    """The streams and names that each cell finds."""
    set_signal(SIGINT, interrupts.handle)
    namespace["context"] = context
    namespace["__builtins__"] = builtins_module
    for fd, kept in STREAMS.items():
        dup2(kept, fd)
        set_blocking(fd, True)
    sys.stdin, sys.stdout, sys.stderr = (open_stream(fd) for fd in range(3))
    sys.__stdin__, sys.__stdout__, sys.__stderr__ = sys.stdin, sys.stdout, sys.stderr


def open_stream(fd):
    stream = OPENED.get(fd)
    try:
        is_open = stream is not None and not stream.closed
    except ValueError:
        is_open = False
    if not is_open:
        raw = FileIO(fd, "r" if fd == 0 else "w", closefd=False)
        buffer = BufferedReader(raw) if fd == 0 else BufferedWriter(raw)
        stream = TextIOWrapper(buffer, encoding="utf-8", errors="backslashreplace", line_buffering=fd != 0)
        OPENED[fd] = stream
    # What a cell has set on them would hide what they are.
    for part in (stream, stream.buffer, stream.buffer.raw):
        part.__dict__.clear()
    stream.mode = "r" if fd == 0 else "w"
    if fd != 0:
        stream.reconfigure(
            encoding="utf-8", errors="backslashreplace", newline=None, line_buffering=True, write_through=False
        )
    return stream


def flush():
    for stream in (getattr(sys, "stdout", None), getattr(sys, "stderr", None), OPENED[1], OPENED[2]):
        try:
            stream.flush()
        except BaseException:
            # A stream that a cell has closed or replaced may do anything.
            pass


def serve():
    global revision
    while True:
        prepare()
        cell = cells.receive()
        if cell is None:
            # The interpreter ends as it always does: what is open is written and closed.
            return
        revision = cell["revision"]
        prepare()
        result, error = run(cell["cell"])
        if getpid() != OWN_PID:
            # A process that the cell forked has come to the end of the cell.
            flush()
            exit_at_once(0)
        flush()
        cells.send({"revision": revision, "result": result, "error": error, "state": state()})
