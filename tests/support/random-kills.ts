// Kills and restarts a run at random times until it has been killed often enough, and then lets it finish. One
// seed has the same random numbers.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@mlrb/core/statistics/random";
import { recordsIn } from "./end-state.ts";
import { outcomes } from "./lab.ts";
import { type ProgramOutput, parseLines, type Started } from "./run-program.ts";
import { stagePrograms } from "./sandboxes/stage-programs.ts";
import { testSeed } from "./test-seed.ts";

export type Kills = {
  root: string;
  /** Starts the run, with `--json`. */
  start: () => Started;
  kills: number;
  /** The number of all attempts. While some are missing, a kill may wait for the next to end. */
  attempts: number;
};

/** The kills, for failure messages, and the output of the run that finished. */
export async function randomKills(options: Kills): Promise<{ story: string[]; said: ProgramOutput }> {
  const { root, start } = options;
  const random = seededRandom(testSeed).fraction;
  const story = [`MLRB_TEST_SEED=${testSeed} draws the same kills`];
  let run = start();
  let recorded = recordedStages(root);
  const restart = async () => {
    await checkRepeatsNothing(run, recorded, story);
    recorded = recordedStages(root);
    run = start();
  };
  for (let kills = 0; kills < options.kills; ) {
    const begun = Date.now();
    const patient = recordedStages(root).size < options.attempts && random() < 0.4;
    await Promise.race([run.ended, moment(random, { root, run, patient })]);
    const at = `${((Date.now() - begun) / 1000).toFixed(1)} s on`;
    if (hasEnded(run)) {
      const { code } = await run.ended;
      story.push(`ended with ${code} by itself, ${at}`);
      assert.ok(code === 0 || code === 1, story.join("\n"));
      // all work is done before the last kill: without its cache the run repeats everything except attempts
      if (code === 0) rmSync(join(root, ".mlrb/cache"), { recursive: true });
      await restart();
      continue;
    }
    const programs = stagePrograms(root);
    const stage = programs[Math.floor(random() * programs.length)];
    const what = stage === undefined ? 0 : Math.floor(random() * 3);
    story.push(`${["runner", "stage", "both"][what]} killed, ${at}`);
    if (what > 0) kill(stage!);
    if (what !== 1) {
      run.child.kill("SIGKILL");
      await restart();
    }
    kills++;
  }
  let said = await run.ended;
  for (let more = 0; said.code !== 0 && more < 3; more++) {
    await restart(); // a stage was killed in the last run
    said = await run.ended;
  }
  await checkRepeatsNothing(run, recorded, story);
  return { story, said };
}

/** A random time; a patient kill waits until the next attempt is recorded. */
async function moment(
  random: () => number,
  { root, run, patient }: { root: string; run: Started; patient: boolean },
): Promise<void> {
  const wait = patient ? random() * 3_000 : 300 + random() * 4_700;
  const before = recordedStages(root).size;
  while (patient && !hasEnded(run) && recordedStages(root).size === before) await sleep(100);
  await sleep(wait);
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // the process has just ended
  }
}

function hasEnded({ child }: Started): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function recordedStages(root: string): Set<string> {
  return new Set(recordsIn(root).map(({ record }) => (record.slot as { stage: string }).stage));
}

/** Checks that a run reuses attempts that were recorded before, if the run got that far. */
async function checkRepeatsNothing(run: Started, recorded: Set<string>, story: string[]): Promise<void> {
  const said = await run.ended;
  const told = outcomes({ ...said, lines: parseLines(said.stdout) });
  for (const stage of recorded)
    if (stage in told) assert.equal(told[stage], "reused", `${stage}\n${story.join("\n")}`);
}
