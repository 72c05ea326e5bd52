# What cells have started ends with the host, and takes no more than it may.

def guard(fd):
    """A process that outlives this one only to end what cells started, should the host be killed."""
    mark_all()
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
    for _ in range(10):
        found = [pid for pid in processes() if pid != os.getpid() and is_marked(pid)]
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


def mark_all():
    """Marks this process and all that comes of it by a limit that limits nothing: unlike its environment, its parent and
    its group, a process hardly changes that. Where there is no such limit, the environment is the mark."""
    most = limit_of_mark()
    try:
        resource.setrlimit(resource.RLIMIT_RTTIME, (most, most))
    except (AttributeError, ValueError, OSError):
        pass


def limit_of_mark():
    """More microseconds than any program runs for, and others for each start."""
    return (1 << 61) + (int(OPTIONS["mark"].split("-")[1]) % (1 << 36) << 22) + OWN_PID % (1 << 22)


def is_marked(pid):
    return (
        b"POLYLOOP_KERNEL=" + OPTIONS["mark"].encode() in read("/proc/%d/environ" % pid).split(b"\0")
        or str(limit_of_mark()).encode() in read("/proc/%d/limits" % pid).split()
    )


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def limit():
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
