// Checks the sandbox of attempts without an agent: a training step on its devices (`check: train`), or a snapshot of a
// workspace that a program filled (`check: snapshot`). Nothing of it becomes an attempt.
//   node pipelines/checks/sandbox.ts --param check=train --param 'preset={"trusted": true}' --output check=FILE
import { mkdtempSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { chooseSandbox } from "@mlrb/agents/sandbox/choose-sandbox";
import { SandboxTrouble } from "@mlrb/agents/sandbox/sandbox-trouble";
import { tryProgram, trySnapshot } from "@mlrb/agents/sandbox/try-sandbox";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { calibration } from "@mlrb/formats/judged/calibration";
import type { HostCheck } from "@mlrb/formats/judged/host-check";
import { mustFollow } from "@mlrb/formats/read-format";
import { writeJson } from "@mlrb/kit/json-file";
import { sourceFile, sourceFolder } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";

const { axes, params, outputs, sandbox: asked } = stage();
const preset = params.preset as { kind?: string; trusted?: boolean };
const gpus = asked?.gpus ?? [];
const work = mkdtempSync(join(process.env.MLRB_WORK ?? dirname(resolve(outputs.check!)), "check-"));
const place = {
  ...{
    python: process.env.MLRB_PYTHON,
    gpus,
    cpus: asked?.limits.cpus,
    gpuMemoryBytes: asked?.limits.gpuMemoryBytes,
  },
  ownImage: asked?.image !== undefined,
  scratch: join(work, "scratch"),
};
let sandbox: Awaited<ReturnType<typeof chooseSandbox>> | undefined;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
  process.once(signal, () => {
    void (sandbox?.close() ?? Promise.resolve()).finally(() => process.exit(143));
  });

try {
  sandbox = await chooseSandbox(asked, {
    under: work,
    agent: String(axes.agent ?? "check"),
    trusted: preset.kind === "nop" || preset.trusted === true,
    containers: dockerWalls,
  });
  const begin = performance.now();
  const measured = params.check === "train" ? await trained(sandbox) : await kept(sandbox);
  const found = `${measured}; ${seconds(performance.now() - begin)} in the sandbox (${sandbox.kind})`;
  writeJson(outputs.check!, { formatVersion: 1, found } satisfies HostCheck);
  console.log(found);
} catch (error) {
  // the last line is what `doctor` shows
  if (!(error instanceof SandboxTrouble)) console.error(error);
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await sandbox?.close();
  rmSync(work, { recursive: true, force: true });
}

/** The training steps of the calibration, by the agent's own Python. */
async function trained(sandbox: Parameters<typeof tryProgram>[0]): Promise<string> {
  const result = "calibration.json";
  const program = {
    files: {
      "calibration.py": sourceFile("pipelines/steps/calibration.py"),
      python: sourceFolder("runners/kit/python"),
    },
    args: ["--param", "seconds=5", "--output", `calibration=${sandbox.seenAs("workspace")}/${result}`],
    ...{ modules: "python", result },
  };
  const text = await tryProgram(sandbox, program, place);
  const { device, tokensPerSecond } = mustFollow(calibration, JSON.parse(text), result);
  const where = gpus.length === 0 ? "cpu, since the profile plans no GPU" : device;
  return `training on ${where}: ${tokensPerSecond.toFixed(0)} tokens/s`;
}

async function kept(sandbox: Parameters<typeof trySnapshot>[0]): Promise<string> {
  const bytes = Number(params.bytes);
  const { ms } = await trySnapshot(sandbox, { ...place, bytes });
  return `a snapshot of ${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds(ms)}, its bytes verified`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
