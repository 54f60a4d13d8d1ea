"""Decides before loading whether a model can fit, from the size of its files and this machine's free memory.

A submission is not at fault if its model fits the task's limits but not this machine: a larger machine would
score it. So it is *not measured*, with the reason. Admission and the task's rules, which come first, reject
models that are too large for the task; their answer is the same on every machine.
"""

from pathlib import Path

from mlrb_kit.stored import weight_files

BATCH_BYTES = 2**28  # the logits of one batch and their log-softmax
GIB = 2**30


def check_memory(folder: Path, free: int | None) -> None:
    """Raises MemoryError where the weights and one batch exceed `free` bytes. None: free memory is unknown.

    Models are loaded in their stored dtype, so bytes on disk are bytes in memory. A file that does not fit
    cannot be opened at all, since safetensors maps it whole. This is a lower bound: a model that passes can
    still exceed its stage's memory limit, which is "not measured" too. Raises Rejected without weights.
    """
    needed = sum(path.stat().st_size for path in weight_files(folder)) + BATCH_BYTES
    if free is not None and needed > free:
        raise MemoryError(
            f"the model needs {needed / GIB:.1f} GiB, with a batch; {free / GIB:.1f} GiB are free here. "
            "Score it where more memory is free"
        )


def free_memory(root: Path = Path("/")) -> int | None:
    """Bytes that a process can still allocate: the minimum over the machine and its control groups."""
    found = []
    for line in lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) * 1024)
    for line in lines(root / "proc/self/cgroup"):
        if line.startswith("0::"):
            found.extend(free_in_groups(root / "sys/fs/cgroup", line.removeprefix("0::").strip("/")))
    return min(found, default=None)


def free_in_groups(mount: Path, name: str) -> list[int]:
    """Free bytes of each limited group from `name` up to the mount. The page cache counts as free."""
    found = []
    group = mount / name
    for folder in (group, *group.parents):
        limit = "".join(lines(folder / "memory.max")).strip()
        if limit.isdigit():
            used = int("".join(lines(folder / "memory.current")) or 0)
            stat = dict(line.split() for line in lines(folder / "memory.stat"))
            found.append(max(0, int(limit) - used + int(stat.get("inactive_file", 0))))
        if folder == mount:
            break
    return found


def lines(path: Path) -> list[str]:
    """The lines of a file; an empty list where the file is missing."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
