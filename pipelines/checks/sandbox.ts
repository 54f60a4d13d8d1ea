// Checks the sandbox of attempts without an agent: a training step on its devices (`check: train`), or a snapshot
// of a workspace that a program filled (`check: snapshot`). Nothing of it becomes an attempt.
//   node pipelines/checks/sandbox.ts --param check=train --param 'preset={"trusted": true}' --output check=FILE
import { type TriedPlace, tryProgram, trySnapshot } from "@mlrb/agents/sandbox/try-sandbox";
import { calibration } from "@mlrb/formats/judged/calibration";
import { mustFollow } from "@mlrb/formats/read-format";
import { sourceFile, sourceFolder } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";
import { checkInSandbox } from "./check-in-sandbox.ts";

type Sandbox = Parameters<typeof tryProgram>[0];

const { params } = stage();
const preset = params.preset as { kind?: string; trusted?: boolean };
await checkInSandbox(preset.kind === "nop" || preset.trusted === true, async (sandbox, { place }) => {
  const begin = performance.now();
  const measured = params.check === "train" ? await trained(sandbox, place) : await kept(sandbox, place);
  return `${measured}; ${seconds(performance.now() - begin)} in the sandbox (${sandbox.kind})`;
});

/** The training steps of the calibration, by the agent's own Python. */
async function trained(sandbox: Sandbox, place: TriedPlace): Promise<string> {
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
  const where = place.gpus.length === 0 ? "cpu, since the profile plans no GPU" : device;
  return `training on ${where}: ${tokensPerSecond.toFixed(0)} tokens/s`;
}

async function kept(sandbox: Sandbox, place: TriedPlace): Promise<string> {
  const bytes = Number(params.bytes);
  const { ms } = await trySnapshot(sandbox, { ...place, bytes });
  return `a snapshot of ${(bytes / 2 ** 20).toFixed(0)} MiB in ${seconds(ms)}, its bytes verified`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
