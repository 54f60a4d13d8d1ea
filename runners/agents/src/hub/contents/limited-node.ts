// Runs a program of Node on hostile content: one that takes all memory ends itself and nothing else.
import { execa, type Options } from "execa";

/** MB of heap; the kernel limits the buffers beside it, in kB. */
const [heapMegabytes, dataKilobytes] = [1024, 4 << 20];

export function limitedNode<Given extends Options>(args: string[], options: Given) {
  const flags = ["--disable-warning=ExperimentalWarning", `--max-old-space-size=${heapMegabytes}`];
  const limited = `ulimit -d ${dataKilobytes} 2>/dev/null; exec "$0" "$@"`;
  const all = { ...options, reject: false, stdin: "ignore" } as const;
  return execa("sh", ["-c", limited, process.execPath, ...flags, ...args], all);
}
