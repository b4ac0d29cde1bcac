"""One process, measured: wall time, CPU time, and the memory it took itself."""

import ctypes
import os
import signal
import subprocess
import time

_SEIZE, _CONT, _TRACE_EXIT, _EVENT_EXIT = 0x4206, 7, 0x40, 6


def timed(command, environment):
    """Runs a command and returns (seconds, CPU seconds of the process, exit code)."""
    begun = time.perf_counter()
    child = subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    wall = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    return wall, usage.ru_utime + usage.ru_stime, child.returncode


def peak(command, environment):
    """Runs a command and returns the most memory it held, in MiB, or None where nobody may look.

    `ru_maxrss` would count the memory of the process that forked. VmHWM is the process's own, but is
    gone once it has ended; so it is stopped at its end (PTRACE_O_TRACEEXIT) and looked at there.
    """
    ready, go = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(go)
        os.read(ready, 1)
        null = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(null, stream)
        try:
            os.execvpe(command[0], command, environment)
        finally:
            os._exit(127)
    os.close(ready)
    seized = _ptrace(_SEIZE, pid, _TRACE_EXIT) == 0
    os.close(go)
    memory = None
    while True:
        _, status = os.waitpid(pid, 0)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            return memory if seized else None
        stopped = os.WSTOPSIG(status)
        if status >> 16 == _EVENT_EXIT:
            memory = _high_water(pid)
        is_own = status >> 16 == 0 and stopped != signal.SIGTRAP
        _ptrace(_CONT, pid, stopped if is_own else 0)


def _high_water(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return None


def _ptrace(request, pid, data):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.restype = ctypes.c_long
    return libc.ptrace(ctypes.c_long(request), ctypes.c_long(pid), ctypes.c_void_p(0), ctypes.c_void_p(data))
