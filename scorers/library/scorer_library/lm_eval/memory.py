"""Decides before loading whether a model can fit, from what its files say and what this machine has left.

A model that fits the task's limits and not this machine is no fault of the submission: a larger machine
would give a number, so it is *not measured*, and a word says why. What is too large for the task is for
admission and the task's rules to say; they come first, and give the same answer on every machine.
"""

from pathlib import Path

from mlrb_kit.stored import weight_files

BATCH_BYTES = 2**28  # the logits of one batch, with their logarithms
GIB = 2**30


def check_memory(folder: Path, free: int | None) -> None:
    """Raises MemoryError where the weights and one batch exceed `free` bytes; None knows nothing.

    Models are loaded in the dtype they are stored in, so bytes on disk are bytes in memory; and a file that
    does not fit cannot even be opened, since safetensors maps it whole. A lower bound: what passes can still
    fail, as "not measured" too, by its stage's memory limit. Raises Rejected where there are no weights.
    """
    needed = sum(path.stat().st_size for path in weight_files(folder)) + BATCH_BYTES
    if free is not None and needed > free:
        raise MemoryError(
            f"the model needs {needed / GIB:.1f} GiB, with a batch; {free / GIB:.1f} GiB are free here. "
            "Score it where more memory is free"
        )


def free_memory(root: Path = Path("/")) -> int | None:
    """Bytes that a process could still take: the least of the machine's and its control groups'."""
    found = []
    for line in lines(root / "proc/meminfo"):
        if line.startswith("MemAvailable:"):
            found.append(int(line.split()[1]) * 1024)
    for line in lines(root / "proc/self/cgroup"):
        if line.startswith("0::"):
            found.extend(free_in_groups(root / "sys/fs/cgroup", line.removeprefix("0::").strip("/")))
    return min(found, default=None)


def free_in_groups(mount: Path, name: str) -> list[int]:
    """What each limited group from `name` up to the mount has left; pages of files can be given back."""
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
    """None of them where the system has no such file."""
    try:
        return path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
