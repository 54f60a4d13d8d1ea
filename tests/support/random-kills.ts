// Kills a run again and again at random moments, each time starting it anew, until it has been killed
// often enough; then it may come to its end. The same seed gives the same dice.
import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { recordsIn } from "./end-state.ts";
import { outcomes } from "./lab.ts";
import { type ProgramOutput, parseLines, type Started } from "./run-program.ts";
import { stagePrograms } from "./stage-programs.ts";

export type Kills = {
  root: string;
  /** Starts the run, with `--json`. */
  start: () => Started;
  kills: number;
  seed: number;
  /** How many attempts there are in all; as long as some are missing, a kill may wait for the next to end. */
  attempts: number;
};

/** What was killed, for the reader of a failure, and what the run said that came to its end. */
export async function randomKills(options: Kills): Promise<{ story: string[]; said: ProgramOutput }> {
  const { root, start, seed } = options;
  const random = dice(seed);
  const story = [`seed ${seed}`];
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
      // all is done before the last kill: without its cache it has all to do again but the attempts
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
    await restart(); // a stage was killed in the last one
    said = await run.ended;
  }
  await checkRepeatsNothing(run, recorded, story);
  return { story, said };
}

/** Some time from now; a patient one comes after the next attempt has been recorded. */
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
    // it has just ended by itself
  }
}

function hasEnded({ child }: Started): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function recordedStages(root: string): Set<string> {
  return new Set(recordsIn(root).map(({ record }) => (record.slot as { stage: string }).stage));
}

/** An attempt that was on record when a run began is reused in it, if the run got that far. */
async function checkRepeatsNothing(run: Started, recorded: Set<string>, story: string[]): Promise<void> {
  const said = await run.ended;
  const told = outcomes({ ...said, lines: parseLines(said.stdout) });
  for (const stage of recorded)
    if (stage in told) assert.equal(told[stage], "reused", `${stage}\n${story.join("\n")}`);
}

/** Numbers from 0 to 1, always the same for one seed (mulberry32). */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
