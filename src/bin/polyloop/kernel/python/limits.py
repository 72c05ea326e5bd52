# What cells have started ends with the host, and takes no more than it may.

def guard(fd):
    """A process that outlives this one only to end what cells started, should the host be killed."""
    if os.fork():
        os.wait()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for other in range(3):
        os.dup2(os.open(os.devnull, os.O_RDWR), other)
    cells.socket.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    waiting = select.poll()
    waiting.register(fd, 0)
    try:
        while not waiting.poll():
            pass
        if not OPTIONS["at_prompt"]:
            os.killpg(OWN_PID, signal.SIGKILL)
    except BaseException:
        pass
    mark = b"POLYLOOP_KERNEL=" + OPTIONS["mark"].encode()
    for _ in range(10):
        found = [pid for pid in processes() if pid != os.getpid() and is_marked(pid, mark)]
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if not found:
            break
    os._exit(0)


def processes():
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def is_marked(pid, mark):
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            return mark in file.read().split(b"\0")
    except OSError:
        return False


def limit():
    import resource

    wanted = [(resource.RLIMIT_CORE, 0)]
    if OPTIONS["memory_bytes"]:
        wanted.append((resource.RLIMIT_AS, OPTIONS["memory_bytes"]))
    for what, most in wanted:
        try:
            hard = resource.getrlimit(what)[1]
            most = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(what, (most, most))
        except (ValueError, OSError):
            # Not every system knows every limit.
            pass
