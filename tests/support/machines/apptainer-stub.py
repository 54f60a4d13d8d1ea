#!/usr/bin/env python3
"""Stands for Apptainer in tests: refuses flags that the harness does not use, does others with bubblewrap.

It is written from Apptainer's documentation, as the harness is. So it shows that both agree with each other,
not that the real program does.
"""

import csv
import os
import sys
from pathlib import Path

REQUIRED = {"--quiet", "exec", "--userns", "--containall", "--no-home", "--no-init"}
VALUES = {"--no-mount", "--network", "--hostname", "--pwd", "--mount"}
NO_MOUNT = {"sys", "hostfs", "cwd", "bind-paths"}


def main() -> None:
    args = sys.argv[1:]
    if args == ["--version"]:
        print("apptainer version 1.3.4")
        return
    if args[:3] == ["--quiet", "pull", "--force"]:
        pull(*args[3:])
        return
    seen: set[str] = set()
    values: dict[str, list[str]] = {}
    at = 0
    while at < len(args) and (args[at].startswith("-") or args[at] == "exec"):
        flag = args[at]
        if flag in VALUES:
            values.setdefault(flag, []).append(args[at + 1])
            at += 2
        elif flag in REQUIRED | {"--net"}:
            seen.add(flag)
            at += 1
        else:
            refuse(f"unknown flag: {flag}")
    if missing := REQUIRED - seen:
        refuse(f"without {' '.join(sorted(missing))} the host would be in view")
    if set(",".join(values.get("--no-mount", [])).split(",")) != NO_MOUNT:
        refuse("--no-mount leaves the host in view")
    if ("--net" in seen) != (values.get("--network") == ["none"]):
        refuse("an ordinary user may use --net with --network none only")
    if unset := [name for name in os.environ if name.startswith(("APPTAINER", "SINGULARITY"))]:
        refuse(f"the caller's settings count: {unset}")
    image, *program = args[at:]
    walls = [
        "bwrap",
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--die-with-parent",
    ]
    walls += ["--as-pid-1", "--clearenv", "--cap-drop", "ALL", "--hostname", values["--hostname"][0]]
    walls += ["--unshare-net"] if "--net" in seen else []
    walls += root(image)
    walls += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/var/tmp"]
    for mount in values.get("--mount", []):
        walls += bind(mount)
    os.execvp("bwrap", [*walls, "--chdir", values["--pwd"][0], "--", *program])


def pull(file: str, address: str) -> None:
    Path(file).write_text(address, encoding="utf8")


def root(image: str) -> list[str]:
    """A folder, or an image: this machine's programs and a file that names the image."""
    if Path(image).is_dir():
        return ["--ro-bind", image, "/"]
    links = [("usr/bin", "/bin"), ("usr/lib", "/lib"), ("usr/lib64", "/lib64"), ("usr/sbin", "/sbin")]
    made = [part for target, link in links for part in ("--symlink", target, link)]
    return ["--tmpfs", "/", "--ro-bind", "/usr", "/usr", *made, "--ro-bind", image, "/image"]


def bind(mount: str) -> list[str]:
    fields = next(csv.reader([mount]))
    options = dict(field.split("=", 1) for field in fields if "=" in field)
    if options.keys() != {"type", "source", "destination"} or options["type"] != "bind":
        refuse(f"--mount {mount}")
    mode = "--ro-bind" if "ro" in fields else "--bind"
    if options["destination"].startswith("/dev/"):
        mode = "--dev-bind"
    return [mode, options["source"], options["destination"]]


def refuse(why: str) -> None:
    sys.exit(f"FATAL: {why}")


if __name__ == "__main__":
    main()
