"""The Python side of `polyloop kernel`.

It runs in a namespace of its own, with a copy of the builtins: whatever cells do to the builtins, to sys.stdout or to
modules, it goes on. Two channels lead to the host. On the first come the cells, and their outcomes go back; on the
second a cell asks the host about the context, also from threads. The state is looked at here, and never asked of the
host. Needs Python 3.8.
"""

import _signal
import _socket
import _thread
import ast
import builtins as builtins_module
import fcntl
import io
import json
import linecache
import operator
import os
import resource
import select
import signal
import struct
import sys
import traceback
import types

OWN_FILE = "<polyloop kernel>"
OWN_PID = os.getpid()
MAIN_THREAD = _thread.get_ident()
FIRST_PRIVATE_FD = 200

# What is taken from modules is kept here, so that a cell which replaces it there harms only itself.
get_ident, getpid, dup2, set_blocking = _thread.get_ident, os.getpid, os.dup2, os.set_blocking
exit_at_once, duplicate, pack, unpack = os._exit, fcntl.fcntl, struct.pack, struct.unpack
set_trace, set_profile = sys.settrace, sys.setprofile
allocate_lock, start_thread = _thread.allocate_lock, _thread.start_new_thread
set_signal, SIGINT = _signal.signal, _signal.SIGINT
as_index, parse_only, Expr, Expression = operator.index, ast.PyCF_ONLY_AST, ast.Expr, ast.Expression
FileIO, BufferedReader, BufferedWriter, TextIOWrapper = io.FileIO, io.BufferedReader, io.BufferedWriter, io.TextIOWrapper
TracebackException, StackSummary = traceback.TracebackException, traceback.StackSummary


class ContextError(ValueError):
    """What the host has against a question: `code` is stable, `hint` says what to write instead."""

    def __init__(self, code, message, hint=None):
        ValueError.__init__(self, message if hint is None else message + "\nhint: " + hint)
        self.code, self.hint = code, hint
