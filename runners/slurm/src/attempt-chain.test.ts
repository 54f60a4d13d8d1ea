// When an attempt's next job is submitted by the process that follows it, and when a run has to decide.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as soon } from "node:timers/promises";
import type { ExecutionResult } from "@mlrb/formats/stage/outcome";
import { AttemptChain } from "./attempt-chain.ts";
import type { AttemptJob } from "./attempt-job.ts";

const failed: ExecutionResult = { kind: "failed", cause: "machine", detail: "preempted" };
type Ended = { broken?: string; hadItsTurn?: boolean };

/** A chain whose jobs the test begins and ends. */
function lab(waitMs = 60_000) {
  const jobs: { begin(): Promise<void>; end(how: Ended): Promise<void>; signals: string[] }[] = [];
  const state = { waitMs, answers: 0, isPaused: false, refuses: false, reasons: [] as string[] };
  const job = (): AttemptJob => {
    const began = Promise.withResolvers<{ node: string; job: string }>();
    const ended = Promise.withResolvers<ExecutionResult>();
    let end: Ended = {};
    const signals: string[] = [];
    jobs.push({
      signals,
      async begin() {
        began.resolve({ node: "n1", job: "7" });
        await soon();
      },
      async end(how) {
        end = how;
        ended.resolve(failed);
        await soon();
      },
    });
    return {
      ...{ began: began.promise, ended: ended.promise },
      askToEnd: () => signals.push("ask"),
      kill: () => signals.push("kill"),
      brokenOff: () => end.broken,
      hadItsTurn: () => end.hadItsTurn ?? false,
      hasSucceeded: () => false,
      request: () => undefined,
    };
  };
  const chain = new AttemptChain(job(), {
    waitMs: state.waitMs,
    answers: () => state.answers,
    isPaused: () => state.isPaused,
    async next(_, after) {
      state.reasons.push(after);
      await soon();
      if (state.refuses) throw new Error("no space left");
      return job();
    },
  });
  return { chain, jobs, state };
}

test("the next job follows one whose time was over, also for a long pause without any answer", async () => {
  const { chain, jobs, state } = lab();
  for (let at = 0; at < 5; at++) {
    await jobs[at]!.begin();
    await jobs[at]!.end({ broken: "its time was over", hadItsTurn: true });
    await soon();
  }
  assert.equal(jobs.length, 6);
  await jobs[5]!.end({});
  assert.deepEqual(await chain.ended, failed);
  assert.equal(chain.brokenOff(), undefined, "the last end was the attempt's own");
  assert.deepEqual(new Set(state.reasons), new Set(["its time was over"]));
});

test("jobs that only wait follow each other no longer than a person is waited for", async () => {
  const { chain, jobs } = lab(0);
  await jobs[0]!.begin();
  await jobs[0]!.end({ broken: "its time was over", hadItsTurn: true });
  await chain.ended;
  assert.equal(chain.brokenOff(), "its time was over");
  assert.equal(jobs.length, 1);
});

test("after preemption the next job follows an answer, a person's resume and a pause; otherwise a run decides", async () => {
  const { chain, jobs, state } = lab();
  const preempt = async () => {
    await jobs.at(-1)!.begin();
    await jobs.at(-1)!.end({ broken: "preempted" });
    await soon();
  };
  state.answers++;
  await preempt();
  assert.equal(jobs.length, 2);
  chain.resumed();
  await preempt();
  assert.equal(jobs.length, 3);
  state.isPaused = true;
  await preempt();
  assert.equal(jobs.length, 4);
  state.isPaused = false;
  await preempt();
  assert.equal(jobs.length, 4);
  assert.deepEqual(await chain.ended, failed);
  assert.equal(chain.brokenOff(), "preempted");
});

test("a job that never began is no progress, even of a paused attempt: a refusal is not repeated without end", async () => {
  const { chain, jobs, state } = lab();
  state.isPaused = true;
  await jobs[0]!.end({ broken: "Slurm refuses its job" });
  await chain.ended;
  assert.equal(chain.brokenOff(), "Slurm refuses its job");
  assert.equal(jobs.length, 1);
});

test("a next job that cannot be submitted leaves the attempt to a run", async () => {
  const { chain, jobs, state } = lab();
  state.refuses = true;
  state.answers++;
  await jobs[0]!.end({ broken: "preempted" });
  assert.deepEqual(await chain.ended, failed);
  assert.equal(chain.brokenOff(), "its next job could not be submitted: no space left");
});

test("a wish to end that comes between two jobs reaches the next one, and is the attempt's end", async () => {
  const { chain, jobs, state } = lab();
  state.answers++;
  const ended = jobs[0]!.end({ broken: "preempted" });
  while (state.reasons.length === 0) await Promise.resolve();
  chain.askToEnd();
  await ended;
  await soon();
  assert.deepEqual(jobs[1]!.signals, ["ask"]);
  await jobs[1]!.end({ broken: "preempted" });
  await chain.ended;
  assert.equal(chain.brokenOff(), undefined);
  assert.equal(jobs.length, 2);
});

test("the time in the queue of a later job is no duration", async () => {
  const { chain, jobs, state } = lab();
  assert.equal(chain.ranMs(), 0);
  await jobs[0]!.begin();
  assert.ok(chain.ranMs() > 0);
  state.answers++;
  await jobs[0]!.end({ broken: "preempted" });
  await soon();
  assert.equal(chain.ranMs(), 0);
});
