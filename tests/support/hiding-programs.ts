// The attacks of hostile-programs that use disk or memory where neither a name nor a process shows it.

export const hidingPrograms = {
  /**
   * argv: queued, mapped; the number of MiB. Fills files that no name and no descriptor shows: they are in the queue of
   * a socket, or only mapped. Prints how much it could hold.
   */
  hiddenFiles: `
import array, mmap
how, most = sys.argv[2], int(sys.argv[3])
os.chdir(os.environ["TMPDIR"])
block = os.urandom(1 << 20)
kept, held = [], 0
try:
    while held < most:
        file = os.open("f", os.O_RDWR | os.O_CREAT, 0o600)
        os.unlink("f")
        if how == "queued":
            pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
            pair[0].sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [file]))])
            kept.append(pair)
            for _ in range(16):
                os.write(file, block)
                held += 1
            os.close(file)
        else:
            os.truncate(file, 16 << 20)
            page = mmap.mmap(file, 16 << 20)
            os.close(file)
            kept.append(page)
            for at in range(0, 16 << 20, 1 << 20):
                page[at:at + (1 << 20)] = block
                held += 1
    told({"held": held})
except OSError as error:
    told({"held": held, "error": errno.errorcode.get(error.errno)})
    time.sleep(20)
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
