"""Forks the stages' Python programs from a process that has already imported the heavy libraries.

A scorer spends 15 s on its imports and one on its model. This process imports the libraries
once, from the preload file next to the environment's lock. For each job it forks a child with
its own process, session, variables, folders and end (see fork_job). Requests and answers are
those of spawner.py. If a fork would be unsafe, this process says so before the first job, and
every job starts fresh.
"""

# ruff: noqa: PTH118, PTH120, PTH123, PTH208

import contextlib
import ctypes
import gc
import itertools
import os
import runpy
import shutil
import signal
import sys
import traceback
import types
import warnings

import fork_job
import spawner
from fork_places import Place, places_below

# a thread of pyarrow's allocator that holds nothing a child needs
KNOWN_THREADS = {"jemalloc_bg_thd"}

# of madvise (linux/mman.h), since Linux 6.1
MADV_COLLAPSE = 25
HUGE_PAGE = 2**21
# the pages are worth their 0.7 s after about this many jobs
JOBS_BEFORE_HUGE_PAGES = 12

# parameters of glibc's mallopt (malloc.h)
MMAP_THRESHOLD, TRIM_THRESHOLD = -3, -1


def main() -> None:
    preload, home = sys.argv[1:]
    requests, answers = os.dup(0), os.dup(1)  # not inherited by executed programs
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    # importing takes long, and the runner may die meanwhile
    fork_job.die_with_parent(signal.SIGKILL)
    sys.path.pop(0)  # the folder of this file
    path = list(sys.path)
    keep_freed_memory()
    try:
        runpy.run_path(preload)
        why = trouble()
        places = places_below(home)
    except BaseException as error:
        why = "".join(traceback.format_exception_only(type(error), error)).strip()
    # each job has its own home; paths that name this home are redirected there
    shutil.rmtree(home, ignore_errors=True)
    if why is not None:
        spawner.send([{"failed": why}], answers)
        return
    fork_job.die_with_parent(0)  # from here on the closed pipe signals the end, and jobs end first
    sys.path[:] = path
    gc.collect()
    gc.freeze()  # otherwise a child's first collection would write to all objects, and so copy them
    spawner.serve(forker(home, places), requests, answers)


def keep_freed_memory() -> None:
    """Freed tensors of up to 256 MiB stay with a job, and its next tensors use them again.

    By default glibc maps each block over 32 MiB anew, and the kernel fills its pages with zeros: that was a
    third of the time of comparing the weights of two models. Programs that a job executes have the default.
    """
    with contextlib.suppress(OSError, AttributeError):  # another library than glibc
        mallopt = ctypes.CDLL(None).mallopt
        # before 2.35 the most is 32 MiB; the second call alone would map every block over 128 KiB
        if mallopt(MMAP_THRESHOLD, 2**28) or mallopt(MMAP_THRESHOLD, 2**25):
            mallopt(TRIM_THRESHOLD, 2**29)


def use_huge_pages() -> None:
    """Makes forks cheaper: the kernel copies an entry for each page, and a job inside walls forks twice more.

    Three forks and a short job took 75 ms with small pages, and 35 ms with huge ones. Some kernels refuse.
    """
    with contextlib.suppress(OSError, AttributeError):
        advise = ctypes.CDLL(None).madvise
        advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        with open("/proc/self/maps") as file:
            lines = [line.split() for line in file]
        for span, rights, _, device, *_ in lines:
            begin, end = (int(place, 16) for place in span.split("-"))
            begin, end = -(-begin // HUGE_PAGE) * HUGE_PAGE, end // HUGE_PAGE * HUGE_PAGE
            if rights == "rw-p" and device == "00:00" and begin < end:
                advise(begin, end - begin, MADV_COLLAPSE)


def trouble() -> str | None:
    """The reason why this process must not be forked."""
    threads = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/comm") as file:
            name = file.read().strip()
        if int(task) != os.getpid() and name not in KNOWN_THREADS:
            threads.append(name)
    if threads:
        return f"threads: {', '.join(sorted(threads))}"
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        return "CUDA is initialised"
    settled = [os.path.realpath(root) for root in (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__))]
    own = own_modules()
    for name, folder in module_folders():
        if name not in own and not any(f"{folder}/".startswith(f"{root}/") for root in settled):
            return f"{name} does not belong to the environment: it may change while this process runs"
    return None


def own_modules() -> dict[str, types.ModuleType]:
    here = os.path.dirname(os.path.realpath(__file__))
    own = {here, os.path.join(here, "python-guard")}
    return {name: sys.modules[name] for name, folder in module_folders() if folder in own}


def module_folders() -> list[tuple[str, str]]:
    files = [(name, vars(module).get("__file__")) for name, module in sorted(sys.modules.items())]
    folders = {os.path.dirname(file) for _, file in files if file}
    real = {folder: os.path.realpath(folder) for folder in folders}
    return [(name, real[os.path.dirname(file)]) for name, file in files if file]


def forker(home: str, places: list[Place]) -> spawner.Begin:
    own = own_modules()
    for name in own:
        if name != "__main__":
            del sys.modules[name]  # a job may have modules of these names
    preloaded = frozenset(sys.modules)
    parent = os.getpid()
    begun = itertools.count(1)

    def begin(job: spawner.Job, control: list[int]) -> int:
        if next(begun) == JOBS_BEFORE_HUGE_PAGES:
            use_huge_pages()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of threads: KNOWN_THREADS only
            pid = os.fork()
        if pid == 0:
            fork_job.run_job(job, fork_job.Warm(parent, control, home, places, preloaded, own))
        return pid

    return begin


if __name__ == "__main__":
    main()
