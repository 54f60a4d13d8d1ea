// Starts bubblewrap: one set of namespaces with its first process.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdtempDisposableSync, openSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import type { BubblewrapArguments } from "./bubblewrap-arguments.ts";
import { SandboxProcess } from "./sandbox-process.ts";

/**
 * `initArguments` follow the program. `groups` are descriptors that the first process inherits; they are closed
 * here. `token` marks bubblewrap itself, not the programs inside.
 */
export async function startBubblewrap(
  { argv, given }: BubblewrapArguments,
  initArguments: (groups: number[]) => string[],
  groups: number[],
  token: string,
): Promise<SandboxProcess | { failed: string }> {
  const descriptors = [...given.map(descriptorOf), ...groups];
  const at = (index: number) => String(4 + index); // after the usual three and the one for information
  let child: ChildProcess;
  try {
    child = spawn(
      "bwrap",
      [
        ...["--info-fd", "3"],
        ...argv.map((argument) => argument.replace(/^\{fd:(\d+)\}$/, (_, index) => at(Number(index)))),
        ...initArguments(groups.map((_, index) => Number(at(given.length + index)))),
      ],
      { stdio: ["pipe", "pipe", "pipe", "pipe", ...descriptors], env: { MLRB_TOKEN: token }, cwd: "/" },
    );
  } finally {
    for (const descriptor of descriptors) closeSync(descriptor);
  }
  const informed = information(child.stdio[3] as Readable);
  const started = new SandboxProcess(child, informed);
  const failed = await started.failedToBegin();
  return failed === undefined ? started : { failed };
}

/** A descriptor from which the text can be read. The file behind it has no name. */
function descriptorOf(text: string | Uint8Array): number {
  using folder = mkdtempDisposableSync(join(tmpdir(), "mlrb-given-"));
  const path = join(folder.path, "text");
  writeFileSync(path, text, { flag: "wx" });
  return openSync(path, "r");
}

/**
 * Reads the pid of the first process from bubblewrap's JSON. Reads to the end: with a closed pipe, bubblewrap
 * would die half-way.
 */
async function information(stream: Readable): Promise<number | undefined> {
  let text = "";
  for await (const piece of stream) text += piece;
  const pid = /"child-pid":\s*(\d+)/.exec(text)?.[1];
  return pid === undefined ? undefined : Number(pid);
}
