# What is done.

linecache_of = linecache.cache
context = Context()
cells, questions = (Channel(int(fd)) for fd in sys.argv[1:3])
OPTIONS = cells.receive()
revision = OPTIONS["revision"]
guard(questions.socket.fileno())
limit()
sys.argv[:] = [""]

if OPTIONS["at_prompt"]:
    namespace = sys.modules["__main__"].__dict__
    for name in [name for name in namespace if not name.startswith("__")]:
        del namespace[name]
    namespace["context"] = context
    revision = None
    interrupts.is_wanted = True
    set_signal(SIGINT, interrupts.handle)
    sys.excepthook = show
    try:
        import readline
        import rlcompleter

        readline.parse_and_bind("tab: complete")
    except ImportError:
        pass
    print("Python %s; context.current(), .search(), .slice(), .summarize(), .get_runtime_state()" % sys.version.split()[0])
else:
    main_module = types.ModuleType("__main__")
    sys.modules["__main__"] = main_module
    namespace = main_module.__dict__
    OPENED = {}
    STREAMS = {fd: duplicate(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_PRIVATE_FD) for fd in range(3)}
    prepare()
    cells.send({"revision": revision, "result": None, "error": None, "state": state()})
    serve()
