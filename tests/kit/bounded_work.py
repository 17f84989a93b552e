"""Work that may use so much CPU and no more, in a copy of this process.

What runs within the store cannot be interrupted otherwise; the kernel ends the copy (SIGXCPU), and
nothing of it is left. Processor time, so that a busy machine ends nothing sooner.
"""

import os
import resource
import signal
import traceback
import warnings
from collections.abc import Callable


def ends_within(cpu_s: int, work: Callable[[], object]) -> bool:
    """Whether the work ended; what it raises until then fails the test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # a fork beside threads
        child = os.fork()
    if child == 0:
        _work_and_end(cpu_s, work)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGXCPU
        return False
    assert os.WEXITSTATUS(status) == 0, "the work failed: its traceback is above"
    return True


def _work_and_end(cpu_s: int, work: Callable[[], object]) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s + 10))
        work()
    except BaseException:
        traceback.print_exc()
        os._exit(1)
    os._exit(0)
