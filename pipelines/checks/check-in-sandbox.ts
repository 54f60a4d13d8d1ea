// What the checks of the sandbox of attempts share: they open it without an agent, close it however they end, and
// write what worked. Nothing of it becomes an attempt.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { chooseSandbox } from "@mlrb/agents/sandbox/choose-sandbox";
import { SandboxTrouble } from "@mlrb/agents/sandbox/sandbox-trouble";
import type { TriedPlace } from "@mlrb/agents/sandbox/try-sandbox";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { stage } from "@mlrb/kit/stage";

type OpenSandbox = Awaited<ReturnType<typeof chooseSandbox>>;

/** `work`: a host folder of this check, removed at its end. */
export type Tried = (sandbox: OpenSandbox, at: { place: TriedPlace; work: string }) => Promise<string>;

/** Writes what `tried` says; after a failure prints the cause last, since `run` shows that line, and sets the status. */
export async function checkInSandbox(trusted: boolean, tried: Tried): Promise<void> {
  const { axes, outputs, sandbox: asked } = stage();
  const work = mkdtempSync(join(process.env.MLRB_WORK ?? dirname(resolve(outputs.check!)), "check-"));
  const place = {
    ...{ python: process.env.MLRB_PYTHON, gpus: asked?.gpus ?? [], scratch: join(work, "scratch") },
    ...{ cpus: asked?.limits.cpus, gpuMemoryBytes: asked?.limits.gpuMemoryBytes },
    ownImage: asked?.image !== undefined,
  };
  let sandbox: OpenSandbox | undefined;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.once(signal, () => {
      void (sandbox?.close() ?? Promise.resolve()).finally(() => process.exit(143));
    });
  try {
    sandbox = await chooseSandbox(asked, {
      ...{ under: work, agent: String(axes.agent ?? "check"), trusted, containers: dockerWalls },
    });
    const found = await tried(sandbox, { place, work });
    writeFileSync(outputs.check!, `${found}\n`);
    console.log(found);
  } catch (error) {
    if (!(error instanceof SandboxTrouble)) console.error(error);
    console.error((error as Error).message);
    process.exitCode = 1;
  } finally {
    await sandbox?.close();
    rmSync(work, { recursive: true, force: true });
  }
}
