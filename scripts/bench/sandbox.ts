// The cost of a bubblewrap sandbox: opening it with the first program, and each later program.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { bubblewrapMissing } from "@mlrb/agents/sandbox/bubblewrap-abilities";
import { bubblewrapWalls } from "@mlrb/agents/sandbox/bubblewrap-walls";
import { walledSandbox } from "@mlrb/agents/sandbox/walled-sandbox";
import { type Bench, median, run, seconds } from "./tools.ts";

const times = 11;
const allowedSeconds = 0.02;

export async function benchSandbox({ work, row }: Bench): Promise<void> {
  const missing = await bubblewrapMissing();
  if (missing !== undefined) return console.log(`no rows for sandboxes: ${missing}`);
  const empty = join(work, "empty");
  mkdirSync(empty);
  const [plain, opened, next, closed]: number[][] = [[], [], [], []];
  for (let turn = 0; turn < times; turn++) {
    plain!.push(await seconds(() => run("sh", ["-c", "true"])));
    const sandbox = await walledSandbox({
      ...{ under: join(work, "sandboxes"), agent: "bench", kind: "bubblewrap", open: bubblewrapWalls },
      ...{ reads: [], network: "none", gpus: [], token: `bench-${process.pid}-${turn}` },
      limits: { memoryBytes: 2 ** 30, processes: 100, diskBytes: 2 ** 30, cpus: 1 },
    });
    await sandbox.put(empty, "workspace");
    const program = { argv: ["true"], cwd: sandbox.seenAs("workspace"), env: { PATH: "/usr/bin:/bin" } };
    const once = () => sandbox.exec({ ...program, onOutput() {} });
    opened!.push(await seconds(once));
    next!.push(await seconds(once));
    closed!.push(await seconds(() => sandbox.close()));
  }
  const over = (all: number[]) => Math.max(0, median(all) - median(plain!));
  const against = {
    against: `sh -c true, ${(1000 * median(plain!)).toFixed(1)} ms, and 20 ms`,
    other: allowedSeconds,
  };
  row("a program in an open sandbox, beyond sh -c true", over(next!), { ...against, target: 1 });
  row("the first program, which opens the sandbox", over(opened!), against);
  row("closing the sandbox and removing its files", median(closed!), against);
}
