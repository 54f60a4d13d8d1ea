// The attacks of a hostile agent, as small Python programs that need only /usr/bin/python3. Each prints one line
// of JSON with what it saw or achieved; the suite checks that. The first argument of each is a mark by which a
// test finds its processes on the host.

import { hidingPrograms } from "./hiding-programs.ts";

/** Shared by the programs below: `told` prints, `tries` returns the result of an action as text. */
const common = `
import ctypes, errno, json, os, socket, subprocess, sys, time
libc = ctypes.CDLL(None, use_errno=True)
def told(value):
    print(json.dumps(value), flush=True)
def tries(action):
    try:
        value = action()
        return "done" if value is None else value
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    except Exception as error:
        return type(error).__name__
def called(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
`;

const programs = {
  /** argv: paths. Prints its user and what it can see. */
  looks: `
def seen(path):
    if os.path.isdir(path):
        return sorted(os.listdir(path))
    with open(path, "rb") as file:
        return "file of %d" % len(file.read(100))
status = dict(line.split(":", 1) for line in open("/proc/self/status") if ":" in line)
told({
    "uid": os.getresuid(), "gid": os.getresgid(), "groups": os.getgroups(),
    "caps": {name: int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
    "noNewPrivileges": int(status["NoNewPrivs"]),
    "root": sorted(os.listdir("/")), "etc": sorted(os.listdir("/etc")), "dev": sorted(os.listdir("/dev")),
    "env": dict(os.environ), "host": socket.gethostname(),
    "pids": sorted(int(pid) for pid in os.listdir("/proc") if pid.isdigit()),
    "commands": [open("/proc/%s/cmdline" % pid, "rb").read().decode("latin1")
                 for pid in os.listdir("/proc") if pid.isdigit()],
    "environments": [tries(lambda: open("/proc/%s/environ" % pid, "rb").read().decode("latin1"))
                     for pid in os.listdir("/proc") if pid.isdigit()],
    "session": os.getsid(0), "tty": tries(lambda: os.close(os.open("/dev/tty", os.O_RDWR))),
    "descriptors": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
    "paths": {path: tries(lambda: seen(path)) for path in sys.argv[2:]},
})
`,
  /** argv: a folder with a read-only file a.txt. Tries every way to change it. */
  overwrites: `
at = sys.argv[2]
file = at + "/a.txt"
up = os.path.dirname(at)
def opens(mode):
    open(file, mode).close()
told({
    "write": tries(lambda: opens("r+")), "append": tries(lambda: opens("a")), "truncate": tries(lambda: os.truncate(file, 0)),
    "create": tries(lambda: open(at + "/new", "w").close()), "unlink": tries(lambda: os.unlink(file)),
    "rename": tries(lambda: os.rename(file, at + "/b.txt")), "away": tries(lambda: os.rename(at, up + "/gone")),
    "rmdir": tries(lambda: os.rmdir(at)), "replace": tries(lambda: os.rename(up + "/other", at)),
    "chmod": tries(lambda: os.chmod(file, 0o666)), "chmodFolder": tries(lambda: os.chmod(at, 0o777)),
    "chown": tries(lambda: os.chown(file, os.getuid(), os.getgid())), "times": tries(lambda: os.utime(file)),
    "link": tries(lambda: os.link(file, up + "/linked")),
    "remount": tries(lambda: called(libc.mount(None, at.encode(), None, 32 | 4096, None))),
    "unmount": tries(lambda: called(libc.umount2(at.encode(), 2))),
    "self": tries(lambda: os.close(os.open("/proc/self/root" + file, os.O_RDWR))),
    "still": open(file).read(),
})
`,
  /** argv: tcp port, udp port, abstract name, unix socket path. Prints which ones answer. */
  reaches: `
tcp, udp, name, path = int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]
def stream(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(3)
        one.connect(address)
        return one.recv(100).decode()
def datagram(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(1)
        one.sendto(b"out", address)
        return one.recvfrom(100)[0].decode()
told({
    "tcp": tries(lambda: stream(socket.AF_INET, ("127.0.0.1", tcp))),
    "tcp6": tries(lambda: stream(socket.AF_INET6, ("::1", tcp))),
    "udp": tries(lambda: datagram(("127.0.0.1", udp))),
    "outside": tries(lambda: datagram(("192.0.2.1", 53))),
    "name": tries(lambda: socket.getaddrinfo("example.com", 80) and None),
    "abstract": tries(lambda: stream(socket.AF_UNIX, "\\0" + name)),
    "socket": tries(lambda: stream(socket.AF_UNIX, path)),
    "interfaces": [name for _, name in socket.if_nameindex()],
    "netlink": tries(lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()),
})
`,
  /** Tries actions that need root or capabilities. */
  rises: `
import platform
machine = platform.machine()
number = {"x86_64": {"keyctl": 250, "add_key": 248, "bpf": 321, "perf": 298, "iouring": 425, "userfaultfd": 323, "clone3": 435},
          "aarch64": {"keyctl": 219, "add_key": 217, "bpf": 280, "perf": 241, "iouring": 425, "userfaultfd": 282, "clone3": 435}}[machine]
def setuid_programs():
    # a setuid program, asked for the user it runs as through its own /proc entry
    for path in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd", "/usr/bin/newgrp", "/usr/bin/chsh"):
        if os.path.exists(path) and os.stat(path).st_mode & 0o4000:
            child = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                uids = [line.split()[1:] for line in open("/proc/%d/status" % child.pid) if line.startswith("Uid:")]
            except OSError:
                uids = []
            child.kill()
            child.wait()
            if uids and uids[0][1] != str(os.getuid()):
                return "runs as " + uids[0][1]
    return "none rises"
def keyring():
    # asks whether a key that the harness left in its session can be found
    key = libc.syscall(number["keyctl"], 10, -3, b"user", sys.argv[2].encode(), 0)
    called(key)
def new_namespace(flag):
    # in a child: what it gets must not change what is tried next
    child = os.fork()
    if child == 0:
        os._exit(0 if libc.unshare(flag) == 0 else 1)
    return "done" if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 else "refused"
told({
    "setuid": tries(lambda: os.setuid(0)), "setgid": tries(lambda: os.setgid(0)), "setgroups": tries(lambda: os.setgroups([0])),
    "programs": setuid_programs(),
    "mount": tries(lambda: called(libc.mount(b"none", b"/mnt", b"tmpfs", 0, None))),
    "chroot": tries(lambda: os.chroot("/usr")),
    "device": tries(lambda: os.mknod(os.environ["TMPDIR"] + "/disk", 0o60666, os.makedev(8, 0))),
    "zero": tries(lambda: os.mknod(os.environ["TMPDIR"] + "/zero", 0o20666, os.makedev(1, 5))),
    "user": new_namespace(0x10000000), "mounts": new_namespace(0x00020000), "net": new_namespace(0x40000000),
    "hostname": tries(lambda: socket.sethostname("mine")),
    "ptrace": tries(lambda: called(libc.ptrace(16, 1, None, None))),
    "memory": tries(lambda: os.close(os.open("/proc/1/mem", os.O_RDWR))),
    "rootOfFirst": tries(lambda: os.listdir("/proc/1/root") and None),
    "filesOfFirst": tries(lambda: os.listdir("/proc/1/fd") and None),
    "limitsOfFirst": tries(lambda: __import__("resource").prlimit(1, 0, (1, 1)) and None),
    "key": tries(keyring), "bpf": tries(lambda: called(libc.syscall(number["bpf"], 0, None, 0))),
    "iouring": tries(lambda: called(libc.syscall(number["iouring"], 1, None))),
    "userfaultfd": tries(lambda: called(libc.syscall(number["userfaultfd"], 0))),
    "vsock": tries(lambda: socket.socket(40, socket.SOCK_STREAM).close()),
    "crypto": tries(lambda: socket.socket(38, socket.SOCK_SEQPACKET).close()),
    "sysctl": tries(lambda: open("/proc/sys/kernel/core_pattern", "w").close()),
    "sysrq": tries(lambda: open("/proc/sysrq-trigger", "w").close()),
    "reboot": tries(lambda: called(libc.reboot(0))),
    "nice": tries(lambda: os.nice(-5) and None),
})
`,
  /** Starts sleeping processes until it is refused, and prints their number. */
  forkBomb: `
children = 0
end = time.monotonic() + 20
while time.monotonic() < end and children < 5000:
    try:
        if os.fork() == 0:
            time.sleep(600)
            os._exit(0)
        children += 1
    except OSError:
        break
told({"children": children})
`,
  /** argv: one, child, shm or tmp, where it uses memory; the number of MiB. */
  memoryHog: `
where, most = sys.argv[2], int(sys.argv[3])
def hog():
    held = []
    for _ in range(most):
        held.append(bytearray(b"x" * (1 << 20)))
    told({"held": len(held)})
    time.sleep(20)  # a limit that is looked at now and then must find it
    return held
if where == "one":
    kept = hog()
elif where == "child":
    child = os.fork()
    if child == 0:
        kept = hog()
        os._exit(0)
    os.waitpid(child, 0)
else:
    folder = {"shm": "/dev/shm", "tmp": "/tmp"}[where]
    written = 0
    try:
        with open(folder + "/hog", "wb") as file:
            for _ in range(most):
                file.write(b"x" * (1 << 20))
                file.flush()
                written += 1
    except OSError as error:
        told({"written": written, "error": errno.errorcode[error.errno]})
    else:
        told({"written": written})
`,
  /** argv: files, inodes, huge or unlinked; the number of MiB or files. Fills writable space, then waits. */
  diskFiller: `
how, most = sys.argv[2], int(sys.argv[3])
os.chdir(os.environ["TMPDIR"])
block = os.urandom(1 << 20)
kept = []
if how == "inodes":
    for one in range(most):
        open("f%d" % one, "w").close()
else:
    for one in range(most):
        name = "huge" if how == "huge" else "f%d" % one
        file = open(name, "ab")
        if how == "unlinked":
            os.unlink(name)
            kept.append(file)
        file.write(block)
        file.flush()
told({"done": how})
time.sleep(120)
`,
  ...hidingPrograms,
  /** Calls getpid by the numbers of x32 and mount by those too. */
  callsX32: `
told({"getpid": tries(lambda: called(libc.syscall(0x40000000 + 39))), "mount": tries(lambda: called(libc.syscall(0x40000000 + 165, b"x", b"/tmp", b"tmpfs", 0, 0)))})
`,
  /** Ignores every signal that can be ignored. */
  ignoresSignals: `
import signal
for number in range(1, 65):
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass
told("ignoring")
time.sleep(600)
`,
  /** Leaves orphans in their own sessions, without environment; one of them is stopped. */
  escapes: `
import signal
def away(then):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            for fd in range(3):
                os.close(fd)
            signal.signal(signal.SIGHUP, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            then()
            os._exit(0)
        os._exit(0)
    os.wait()
program = "import time; time.sleep(600)"
def bare():
    os.execve("/usr/bin/python3", ["python3", "-I", "-S", "-c", program, sys.argv[1]], {})
def halted():
    os.kill(os.getpid(), signal.SIGSTOP)
away(bare)
away(halted)
away(lambda: time.sleep(600))
told("left three")
`,
  /** Kills every process that it may, except itself. */
  killsAll: `
import signal
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGSTOP, signal.SIGKILL):
    tries(lambda: os.kill(1, number))
tries(lambda: os.kill(-1, signal.SIGKILL))
told("alone")
`,
  /** Counts in a file until it is stopped. */
  counts: `
number = 0
told("counting")
while True:
    number += 1
    count = os.environ["TMPDIR"] + "/count"
    with open(count + ".new", "w") as file:
        file.write(str(number))
    os.replace(count + ".new", count)
`,
  /** Two chains of processes: each process writes a byte, forks the next and ends. */
  passesOn: `
told("passing on")
def forks():
    while True:
        try:
            return os.fork()
        except OSError: # those that ended are not yet reaped, and the limit of processes is reached
            time.sleep(0.01)
for _ in range(2):
    if os.fork() == 0:
        while True:
            if forks() > 0:
                os._exit(0)
            with open(os.environ["TMPDIR"] + "/passed", "a") as file:
                file.write("1")
while True:
    time.sleep(9)
`,
  /** Closes unexpected descriptors, and exits normally. */
  closes: `
for fd in range(100):
    tries(lambda: os.close(fd))
time.sleep(0.1)
os._exit(7)
`,
  /** argv: the number of MiB to print. */
  floods: `
block = b"y" * (1 << 16)
for _ in range(int(sys.argv[2]) * 16):
    os.write(1, block)
os.write(2, b"end")
`,
  /** argv: a folder of the sandbox to fill with traps for the harness; a host path as the target. */
  tricks: `
folder, target = sys.argv[2], sys.argv[3]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
os.symlink(target, "link")
os.symlink("/proc/1/environ", "procfs")
os.symlink("..", "up")
os.symlink("loop", "loop")
os.mkfifo("pipe")
server = socket.socket(socket.AF_UNIX)
server.bind("socket")
open("new\\nline", "w").close()
open(b"not\\xffutf8", "w").close()
open("plain", "w").write("plain")
os.link("plain", "second")
with open("sparse", "wb") as file:
    tries(lambda: file.truncate(1 << 50))
open("closed", "w").close()
os.chmod("closed", 0)
os.mkdir("shut")
open("shut/inside", "w").close()
os.chmod("shut", 0)
deep = 0
here = os.open(".", os.O_RDONLY)
for _ in range(300):
    os.mkdir("d" * 200, dir_fd=here)
    below = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
    os.close(here)
    here = below
    deep += 1
told({"deep": deep, "hardlink": tries(lambda: os.link("/etc/passwd", "passwd"))})
`,
  /** argv: a file in the sandbox. Swaps it with a link to a host path as fast as possible, until it is ended. */
  swaps: `
folder, target = sys.argv[2], sys.argv[3]
os.makedirs(folder, exist_ok=True)
os.chdir(folder)
told("swapping")
while True:
    for make in (lambda: open("x", "w").close(), lambda: os.symlink(target, "x"), lambda: os.mkdir("x")):
        tries(make)
        tries(lambda: os.rename("x", "y"))
        tries(lambda: os.unlink("y"))
        tries(lambda: os.rmdir("y"))
`,
} as const;

export type HostileProgram = keyof typeof programs;

/** The command inside the sandbox. `mark` identifies its processes on the host. */
export function hostile(program: HostileProgram, mark: string, ...args: (string | number)[]): string[] {
  return ["/usr/bin/python3", "-I", "-S", "-c", common + programs[program], mark, ...args.map(String)];
}
