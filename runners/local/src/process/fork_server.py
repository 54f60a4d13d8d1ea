"""Forks the stages' Python programs from a process that has imported the heavy libraries already.

A scorer spends 15 s on importing what it needs and one on its model. This process imports it once, as the
preload file says that stands beside the environment's lock, and forks a child for each job: a process of
its own, with its own session, variables, folders and end (see fork_job). Requests and answers are
spawner.py's. What cannot be forked safely is said before the first job, and every job then starts fresh.
"""

# ruff: noqa: PTH118, PTH120, PTH123, PTH208

import gc
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

# of pyarrow's allocator, which starts one thread that holds nothing a child could want
KNOWN_THREADS = {"jemalloc_bg_thd"}


def main() -> None:
    preload, home = sys.argv[1:]
    requests, answers = os.dup(0), os.dup(1)  # not inherited by what is executed
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.close(nothing)
    # importing takes long, and the runner may die meanwhile
    fork_job.die_with_parent(signal.SIGKILL)
    sys.path.pop(0)  # the folder of this file
    path = list(sys.path)
    try:
        runpy.run_path(preload)
        why = trouble()
        places = places_below(home)
    except BaseException as error:
        why = "".join(traceback.format_exception_only(type(error), error)).strip()
    # a job has its own; what was noted of this one is pointed there
    shutil.rmtree(home, ignore_errors=True)
    if why is not None:
        spawner.answer({"failed": why}, answers)
        return
    fork_job.die_with_parent(0)  # from here on the closed pipe tells, and the jobs are ended first
    sys.path[:] = path
    gc.collect()
    gc.freeze()  # else a child's first collection would write to, and so copy, all of it
    spawner.serve(forker(home, places), requests, answers)


def trouble() -> str | None:
    """Why this process must not be forked."""
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

    def begin(job: spawner.Job, control: list[int]) -> int:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # newer Pythons warn of threads: known ones, see above
            pid = os.fork()
        if pid == 0:
            fork_job.run_job(job, fork_job.Warm(parent, control, home, places, preloaded, own))
        return pid

    return begin


if __name__ == "__main__":
    main()
