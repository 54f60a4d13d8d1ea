// The attacks of hostile-programs that use disk or memory where neither a name nor a process shows it.

export const hidingPrograms = {
  /** Honest: hangs with a descriptor in the queue of a socket, while multiprocessing and a shell hand theirs over. */
  handsOver: `
import multiprocessing, tempfile
pair = socket.socketpair()
socket.send_fds(pair[0], [b"x"], [1])
with tempfile.TemporaryFile() as file, multiprocessing.Pool(2) as pool:
    file.write(os.urandom(8 << 20))
    end = time.time() + 3
    while time.time() < end:
        pool.map(abs, range(100))
        subprocess.run(["sh", "-c", "ls | cat"], stdout=subprocess.DEVNULL)
told({"done": True})
`,
  /**
   * argv: the way; the number of MiB. Fills deleted files that no name shows, 16 MiB each. queued: in the queue of
   * a socket; nested: in the queue of a socket that is in a queue itself; unaccepted: in the queue of a connection
   * that nothing accepts; mapped: only mapped; relay: held by processes that each live for a moment; leaderless:
   * held by a process whose first thread has ended. Prints how much it could hold.
   */
  hiddenFiles: `
import array, mmap, threading
how, most = sys.argv[2], int(sys.argv[3])
os.chdir(os.environ["TMPDIR"])
block = os.urandom(1 << 20)
kept = []
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
def opened():
    file = os.open("f", os.O_RDWR | os.O_CREAT, 0o600)
    os.unlink("f")
    return file
def send(to, *descriptors):
    to.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))])
def park(file):
    if how in ("queued", "nested"):
        pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        send(pair[0], file)
        if how == "nested":
            outer = socket.socketpair()
            send(outer[0], pair[0].fileno(), pair[1].fileno())
            pair[0].close()
            pair[1].close()
            pair = outer
        kept.append(pair)
    elif how == "unaccepted":
        if not kept:
            kept.append(socket.socket(socket.AF_UNIX))
            kept[0].bind("s")
            kept[0].listen(64)
        client = socket.socket(socket.AF_UNIX)
        client.connect("s")
        send(client, file)
        client.close()
    elif how == "leaderless":
        kept.append(os.dup(file))
def fill(file):
    if how == "mapped":
        os.truncate(file, 16 << 20)
        # a mapping of the module mmap keeps a descriptor
        at = libc.mmap(None, 16 << 20, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_SHARED, file, 0)
    for part in range(16):
        if how == "mapped":
            ctypes.memmove(at + (part << 20), block, 1 << 20)
        else:
            os.write(file, block)
def fillAll():
    held = 0
    try:
        while held < most:
            file = opened()
            park(file)
            fill(file)
            os.close(file)
            held += 16
        told({"held": held})
    except OSError as error:
        told({"held": held, "error": errno.errorcode.get(error.errno)})
    time.sleep(20)  # a limit that is polled must find it
def relay(held=0):
    files = [opened() for _ in range(0, most, 16)]
    while True:
        try:
            if held < most:
                held += os.write(files[held // 16], block) >> 20
        except OSError as error:  # a full disk
            told({"held": held, "error": errno.errorcode.get(error.errno)})
            time.sleep(20)
        if os.fork() > 0:
            os._exit(0)
if how == "leaderless":
    threading.Thread(target=lambda: (time.sleep(0.3), fillAll())).start()
    libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)
elif how == "relay":
    if os.fork() == 0:
        relay()
    time.sleep(20)
else:
    fillAll()
`,
  /**
   * argv: memfd, sysv, anonymous, buffers; the number of MiB. Uses memory that no process has mapped, or that the
   * kernel counts as nobody's. Prints how much it could hold after each MiB.
   */
  hiddenMemory: `
import array, mmap, resource
how, most = sys.argv[2], int(sys.argv[3])
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
block = b"x" * (1 << 20)
kept, held = [], 0
libc.shmat.restype = ctypes.c_void_p
libc.shmat.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_int]
libc.shmdt.argtypes = [ctypes.c_void_p]
def memfd():
    file = os.memfd_create("x")
    for _ in range(8):
        os.write(file, block)
    pair = socket.socketpair()
    pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
    os.close(file)
    kept.append(pair)
def sysv():
    segment = libc.shmget(0, 8 << 20, 0o1600)
    called(segment)
    at = libc.shmat(segment, None, 0)
    if at == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "")
    for _ in range(8):
        ctypes.memmove(at + _ * len(block), block, len(block))
    called(libc.shmdt(at))
def anonymous():
    page = mmap.mmap(-1, 8 << 20)
    for at in range(8):
        page[at << 20:(at + 1) << 20] = block
    kept.append(page)
def buffers():
    full = 0
    while full < 8 << 20:
        pair = socket.socketpair()
        pair[0].setblocking(False)
        kept.append(pair)
        try:
            while True:
                full += pair[0].send(block[:65536])
        except BlockingIOError:
            pass
try:
    while held < most:
        {"memfd": memfd, "sysv": sysv, "anonymous": anonymous, "buffers": buffers}[how]()
        held += 8
        told({"held": held})
    time.sleep(5)  # a limit that is looked at now and then must find it
except OSError as error:
    told({"held": held, "error": errno.errorcode.get(error.errno)})
`,
} as const;
