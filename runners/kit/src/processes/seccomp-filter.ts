// The system calls that programs behind walls may not make, as a filter for the kernel: calls that give an
// ordinary user capabilities (namespaces), reach shared things past namespaces (key rings), or use the parts of
// the kernel in which most holes were found and which no experiment needs. All others are allowed. Numbers: Linux,
// arch/x86/entry/syscalls/syscall_64.tbl and include/uapi/asm-generic/unistd.h.

type Call = [name: string, x64: number | undefined, arm64: number | undefined];

const refused: Call[] = [
  ["mount", 165, 40],
  ["umount2", 166, 39],
  ["pivot_root", 155, 41],
  ["open_tree", 428, 428],
  ["move_mount", 429, 429],
  ["fsopen", 430, 430],
  ["fsconfig", 431, 431],
  ["fsmount", 432, 432],
  ["fspick", 433, 433],
  ["mount_setattr", 442, 442],
  ["setns", 308, 268],
  ["add_key", 248, 217],
  ["request_key", 249, 218],
  ["keyctl", 250, 219],
  ["bpf", 321, 280],
  ["perf_event_open", 298, 241],
  ["userfaultfd", 323, 282],
  ["open_by_handle_at", 304, 265],
  ["init_module", 175, 105],
  ["finit_module", 313, 273],
  ["delete_module", 176, 106],
  ["kexec_load", 246, 104],
  ["kexec_file_load", 320, 294],
  ["reboot", 169, 142],
  ["swapon", 167, 224],
  ["swapoff", 168, 225],
  ["acct", 163, 89],
  ["quotactl", 179, 60],
  ["syslog", 103, 116],
  ["iopl", 172, undefined],
  ["ioperm", 173, undefined],
];

/** Libraries have a fallback for these. */
const missing: Call[] = [
  ["io_uring_setup", 425, 425],
  ["io_uring_enter", 426, 426],
  ["io_uring_register", 427, 427],
  // its flags are in memory, where no filter can read them: the C library then calls clone
  ["clone3", 435, 435],
];

/** Memory that no process has mapped: no poll finds it. Libraries have a fallback: files in /dev/shm. */
const unmapped: Call[] = [
  ["shmget", 29, 194],
  ["msgget", 68, 186],
  ["semget", 64, 190],
  ["mq_open", 240, 180],
  ["memfd_create", 319, 279],
  ["memfd_secret", 447, 447],
];

const machines = {
  x64: {
    audit: 0xc000003e,
    at: 1,
    unshare: 272,
    clone: 56,
    closeRange: 436,
    prlimit: 302,
    ioctl: 16,
    socket: 41,
  },
  arm64: {
    audit: 0xc00000b7,
    at: 2,
    unshare: 97,
    clone: 220,
    closeRange: 436,
    prlimit: 261,
    ioctl: 29,
    socket: 198,
  },
} as const;

const load = 0x20; // BPF_LD | BPF_W | BPF_ABS
const equal = 0x15; // BPF_JMP | BPF_JEQ
const atLeast = 0x35; // BPF_JMP | BPF_JGE
const anyBit = 0x45; // BPF_JMP | BPF_JSET
const give = 0x06; // BPF_RET

const allow = 0x7fff0000;
const killProcess = 0x80000000;
const error = (number: number) => 0x00050000 | number;
const EPERM = 1;
const ENOSYS = 38;

/** Offsets in struct seccomp_data; both machines put the low half of an argument first. */
const nr = 0;
const arch = 4;
const argument = (index: number, half: "low" | "high" = "low") => 16 + 8 * index + (half === "low" ? 0 : 4);

const newNamespaces = 0x7e020000; // CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
const newTime = 0x80;
const CLONE_FILES = 0x400; // clone shares descriptors, unshare stops sharing them
const CLONE_THREAD = 0x10000;
const CLOSE_RANGE_UNSHARE = 2;
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_ALG = 38;
const AF_VSOCK = 40;

type Step = [code: number, yes: number, no: number, value: number];

const answer = (number: number): Step => [give, 0, 0, error(number)];
const refuse = answer(EPERM);

/**
 * For `bwrap --seccomp`; undefined on a machine whose numbers are not known here. `polledMemory`: no control group
 * limits memory. `polledDisk`: no file system limits the disk. Then all threads of a process share their
 * descriptors, so that a poll finds every open file.
 */
export function seccompFilter(
  machine: string = process.arch,
  { polledMemory = false, polledDisk = false } = {},
): Uint8Array | undefined {
  if (!(machine in machines)) return undefined;
  const { audit, at, ...numbers } = machines[machine as keyof typeof machines];
  const answerAll = (calls: Call[], number: number) =>
    calls.flatMap((call): Step[] =>
      call[at] === undefined ? [] : [[equal, 0, 1, call[at]], answer(number)],
    );
  return encode([
    [load, 0, 0, arch],
    [equal, 1, 0, audit],
    [give, 0, 0, killProcess], // another machine's calls have other numbers
    [load, 0, 0, nr],
    ...(machine === "x64" ? ([[atLeast, 0, 1, 0x40000000], answer(ENOSYS)] satisfies Step[]) : []),
    ...answerAll(refused, EPERM),
    ...answerAll(polledMemory ? [...missing, ...unmapped] : missing, ENOSYS),
    ...argumentRules(numbers),
    ...(polledDisk ? sharedDescriptorRules(numbers) : []),
    [give, 0, 0, allow],
  ]);
}

type Numbers = Record<"unshare" | "clone" | "closeRange" | "prlimit" | "ioctl" | "socket", number>;

/** Calls that are refused for some arguments only. */
function argumentRules(numbers: Numbers): Step[] {
  return [
    ...ofCall(numbers.unshare, [[load, 0, 0, argument(0)], [anyBit, 0, 1, newNamespaces | newTime], refuse]),
    ...ofCall(numbers.clone, [[load, 0, 0, argument(0)], [anyBit, 0, 1, newNamespaces], refuse]),
    // another process's limits, the first one's above all: it may be the same user's
    ...ofCall(numbers.prlimit, [
      [load, 0, 0, argument(0)],
      [equal, 5, 0, 0],
      [load, 0, 0, argument(2)],
      [equal, 0, 2, 0],
      [load, 0, 0, argument(2, "high")],
      [equal, 1, 0, 0],
      refuse,
    ]),
    // typing into the terminal from which the harness was started
    ...ofCall(numbers.ioctl, [
      [load, 0, 0, argument(1)],
      [equal, 1, 0, TIOCSTI],
      [equal, 0, 1, TIOCLINUX],
      refuse,
    ]),
    // a network namespace does not hold the socket between a virtual machine and its host; the other is not needed
    ...ofCall(numbers.socket, [
      [load, 0, 0, argument(0)],
      [equal, 1, 0, AF_VSOCK],
      [equal, 0, 1, AF_ALG],
      refuse,
    ]),
  ];
}

/** No library gives a thread descriptors of its own. */
function sharedDescriptorRules({ unshare, clone, closeRange }: Numbers): Step[] {
  return [
    ...ofCall(unshare, [[load, 0, 0, argument(0)], [anyBit, 0, 1, CLONE_FILES], refuse]),
    ...ofCall(clone, [
      [load, 0, 0, argument(0)],
      [anyBit, 0, 2, CLONE_THREAD],
      [anyBit, 1, 0, CLONE_FILES],
      refuse,
    ]),
    ...ofCall(closeRange, [[load, 0, 0, argument(2)], [anyBit, 0, 1, CLOSE_RANGE_UNSHARE], refuse]),
  ];
}

/** The steps run on the call `number` only and end it or fall through; the number is loaded again after them. */
function ofCall(number: number, steps: Step[]): Step[] {
  return [[equal, 0, steps.length + 1, number], ...steps, [load, 0, 0, nr]];
}

function encode(program: Step[]): Uint8Array {
  const bytes = new DataView(new ArrayBuffer(8 * program.length));
  program.forEach(([code, yes, no, value], index) => {
    bytes.setUint16(8 * index, code, true);
    bytes.setUint8(8 * index + 2, yes);
    bytes.setUint8(8 * index + 3, no);
    bytes.setUint32(8 * index + 4, value, true);
  });
  return new Uint8Array(bytes.buffer);
}
