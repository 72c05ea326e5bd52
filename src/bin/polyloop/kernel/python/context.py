# The context as cells have it.

class Context:
    """The context that is asked: current(), search(), slice(), summarize() and get_runtime_state()."""

    def current(self):
        """Every message, and the state of this process."""
        answer = questions.ask({"call": "current"})
        answer["runtime_state"] = whole_state()
        return answer

    def search(self, query, limit=10, offset=0, role=None, segment=None, substring=False, regex=False, state=False):
        """The messages that the query is about, the best first; with state, what the request says of the run too."""
        if not isinstance(query, str):
            raise TypeError("search() takes its query as a str, not as %s" % type(query).__name__)
        for name, value in (("role", role), ("segment", segment)):
            if value is not None and not isinstance(value, str):
                raise TypeError("search() takes %s as a str, not as %s" % (name, type(value).__name__))
        try:
            query.encode("utf-8")
        except UnicodeEncodeError:
            raise ContextError(
                "usage.arguments", "the query holds a lone surrogate, which is no character", "look for what is beside it"
            ) from None
        return questions.ask({
            "call": "search", "query": str(query), "limit": count(limit, "limit"), "offset": count(offset, "offset"),
            "role": role and str(role), "segment": segment and str(segment),
            "substring": bool(substring), "regex": bool(regex), "state": bool(state),
        })

    def slice(self, start=None, end=None):
        """The messages from start on, up to the one before end, as Python slices a list."""
        return questions.ask({"call": "slice", "start": place(start), "end": place(end)})

    def summarize(self):
        """How many messages there are, of which roles, and how many variables this process holds."""
        answer = questions.ask({"call": "summarize"})
        answer["runtime_variables"] = len(own_variables())
        answer["runtime_alive"] = True
        return answer

    def get_runtime_state(self):
        """What this process holds, and what the request says of the run."""
        return whole_state()

    getRuntimeState = get_runtime_state

    def __repr__(self):
        return "<context: current(), search(query), slice(start, end), summarize(), get_runtime_state()>"


def count(value, name):
    value = as_index(value)
    if value < 0:
        raise ContextError(
            "usage.arguments", "search() takes %s as a number of results, not below 0" % name,
            "write %s=0 or more" % name,
        )
    return min(value, 1 << 31)


def place(value):
    return None if value is None else max(-(1 << 62), min(as_index(value), 1 << 62))
