"""One process, measured: wall time, CPU time, and the memory it held itself."""

import ctypes
import os
import signal
import subprocess
import time
from dataclasses import dataclass

_SEIZE, _CONT, _TRACE_EXIT, _EVENT_EXIT = 0x4206, 7, 0x40, 6


@dataclass
class Taken:
    """What a process took."""

    wall: float  # seconds
    cpu: float  # seconds, of the user and of the system
    peak: float | None = None  # MiB


def timed(command, environment):
    """Runs a command; nothing is done to it, and its memory is not looked at."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    begun = time.perf_counter()
    child = subprocess.Popen(command, env=environment, **streams)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    return Taken(wall, usage.ru_utime + usage.ru_stime)


def watched(command, environment, told):
    """Runs a command, its stderr to the file `told`, and sees how much memory it held.

    `ru_maxrss` would count the memory of whoever forked it. VmHWM is the process's own, but is gone once
    it has ended; so it is stopped at its end (PTRACE_O_TRACEEXIT) and looked at there.
    """
    ready, go = os.pipe()
    begun = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        os.read(ready, 1)
        null = os.open(os.devnull, os.O_RDWR)
        for stream, file in enumerate((null, null, told)):
            os.dup2(file, stream)
        try:
            os.execvpe(command[0], command, environment)
        finally:
            os._exit(127)
    os.close(ready)
    _ptrace(_SEIZE, pid, _TRACE_EXIT)
    os.close(go)
    peak = None
    while True:
        _, status, usage = os.wait4(pid, 0)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            return Taken(time.perf_counter() - begun, usage.ru_utime + usage.ru_stime, peak)
        if status >> 16 == _EVENT_EXIT:
            peak = _high_water(pid)
        is_own_signal = status >> 16 == 0 and os.WSTOPSIG(status) != signal.SIGTRAP
        _ptrace(_CONT, pid, os.WSTOPSIG(status) if is_own_signal else 0)


def _high_water(pid):
    with open(f"/proc/{pid}/status") as status:
        lines = [line.split() for line in status if line.startswith("VmHWM:")]
    return int(lines[0][1]) / 1024 if lines else None


def _ptrace(request, pid, data):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    return libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(0), ctypes.c_void_p(data))
