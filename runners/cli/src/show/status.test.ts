import assert from "node:assert/strict";
import { test } from "node:test";
import { loadPlan } from "@mlrb/core/plan/load-plan";
import type { Plan } from "@mlrb/core/plan/plan";
import { memorySources } from "@mlrb/core/testing/memory-sources";
import { renderDiagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Preview } from "@mlrb/local/decide/preview-plan";
import type { HeldGpu } from "@mlrb/local/leases/gpu-leases";
import type { LiveRun } from "@mlrb/local/leases/live-runs";
import type { InstanceNow, Orphan } from "../attempts/read-states.ts";
import type { Ended, Trouble } from "../attempts/troubles.ts";
import { nextSteps } from "../run/next-steps.ts";
import type { ShownWait } from "./attempt-wait-text.ts";
import type { InstanceState } from "./instance-state.ts";
import { ofOwnPlan, statusOf } from "./status.ts";
import { statusText } from "./status-text.ts";

const text = `formatVersion: 1
name: test
axes: { word: [alpha, beta] }
stages:
  make: { each: [word], command: make, gives: { text: file } }
  attempt: { each: [word], needs: [make.text], command: try, gives: { work: file }, durable: true }
  gather: { collect: [attempt.work], command: gather, gives: { all: file } }
`;

function plan(): Plan {
  const result = loadPlan({ file: "pipelines/test.yaml" }, memorySources({ "pipelines/test.yaml": text }), [
    "local",
  ]);
  if ("problems" in result) throw new Error(result.problems.map(renderDiagnostic).join("\n"));
  return result.plan;
}

const now = Date.parse("2026-01-31T10:10:00.000Z");
const failure = "2026-01-31T10:05:00.000Z";

/** Each instance's state, by id; those that are not named are up to date. `left`: stale ones stay so. */
function scene(
  states: Record<string, InstanceState>,
  {
    left = true,
    live = [] as LiveRun[],
    gpus = [] as HeldGpu[],
    orphans = [] as Orphan[],
    waits = [] as ShownWait[],
    damaged = [] as string[],
    troubles = (_: Ended[]) => [] as Trouble[],
  } = {},
) {
  const made = plan();
  const instances = made.instances.map(({ index, id, stage }): InstanceNow => {
    const state = states[id] ?? "upToDate";
    const common = { index, certain: state !== "uncertain", reasons: [], expectedMs: undefined };
    const cost = { gpuHours: 2, dollars: 0, timeMs: 60_000, from: 0 };
    const preview: Preview =
      state === "upToDate"
        ? { ...common, action: "reuse" }
        : state === "stale" && stage.durable
          ? { ...common, action: "stale", onStale: left ? "leave" : "rerun", cost }
          : {
              ...common,
              action: "run",
              ...(state === "stale" && { expectedMs: 90_000 }),
              ...(stage.durable && { cost }),
            };
    if (state !== "failed") return { preview, state };
    const detail = "it ended with 1\u001b[2J\nand more";
    return {
      preview,
      state,
      lastEnd: { outcome: { kind: "failed", cause: "exit-code", detail }, time: failure },
    };
  });
  const status = statusOf(made, { instances, live, orphans, waits, damaged, gpus, troubles });
  const options = { root: "my root" };
  const next = nextSteps(status, { pipeline: "test", options });
  return {
    made,
    status,
    next,
    text: statusText(status, { next, now }),
    commands: next.map(({ command }) => command),
  };
}

function liveRun(changed: Partial<LiveRun> = {}): LiveRun {
  return {
    run: "20260131T100000Z-17xab",
    pipeline: "test",
    profile: "default",
    selection: "",
    owner: { host: "gpu2", boot: "b", pid: 17, started: "5", since: "2026-01-31T09:59:59.000Z" },
    life: "elsewhere",
    since: "2026-01-31T10:00:00.000Z",
    stages: [{ stage: "make[word=alpha]", since: "2026-01-31T10:00:05.000Z" }],
    waiting: [],
    queued: "",
    ...changed,
  };
}

test("stages of a group share a row, unless each is asked for", () => {
  const { status } = scene({ "make[word=alpha]": "running", gather: "uncertain" });
  const grouped = { ...status, stages: status.stages.map((one) => ({ ...one, group: "work" })) };
  assert.match(statusText(grouped, { next: [], now }), /^work +5 +3 +1 +1$/m);
  assert.match(statusText(grouped, { next: [], now, all: true }), /^make +2 +1 +1 +-$/m);
});

test("status shows counts by stage and state, what runs, what failed, attempts, and next steps", () => {
  const { text } = scene(
    {
      "make[word=alpha]": "running",
      "make[word=beta]": "failed",
      "attempt[word=alpha]": "stale",
      "attempt[word=beta]": "neverRun",
      gather: "uncertain",
    },
    { live: [liveRun()] },
  );
  assert.equal(
    text,
    `test (default): 1 running, 1 failed, 1 stale, 1 uncertain, 1 never run

stage    instances  up to date  running  failed  stale  uncertain  never run
make             2           -        1       1      -          -          -
attempt          2           -        -       -      1          -          1
gather           1           -        -       -      -          1          -

run 20260131T100000Z-17xab, process 17 on gpu2 since 2026-01-31T09:59:59.000Z by its clock, started 10 m 0 s ago; whether it is alive is not known here
  make[word=alpha]  for 9 m 55 s

failed in their last run
  make[word=beta]  exit-code: it ended with 1 [2J and more  (5 m 0 s ago)

attempts: 1 stale, 1 never run; to run the missing ones: 2 attempts, about 4.0 GPU hours and 0.00 dollars

uncertain: an input runs first; reused after all if that input comes out the same

next
  pnpm pipeline log 'make[word=alpha]' --root 'my root'
      a run is active; prints its output
  pnpm pipeline run test --root 'my root' --take-over
      if the run on another host is dead: takes over its stages and attempts
  pnpm pipeline log 'make[word=beta]' --root 'my root'
      shows why make[word=beta] failed
  pnpm pipeline run test --root 'my root' --rerun
      reruns stale attempts: 2 attempts, about 4.0 GPU hours and 0.00 dollars
  pnpm pipeline run test --root 'my root' --accept-stale "reason"
      or uses them as they are; the tables print the reason
`,
  );
});

test("if everything is up to date the only next step is the report", () => {
  const { text } = scene({});
  assert.equal(
    text,
    `test (default): 5 up to date

stage    instances  up to date
make             2           2
attempt          2           2
gather           1           1

attempts: 2 up to date

next
  pnpm pipeline report test --root 'my root'
      nothing to do; prints every table
`,
  );
});

test("a run is proposed with its estimated duration, unless a run is active", () => {
  const states = { "make[word=alpha]": "stale", "make[word=beta]": "neverRun" } as const;
  const { next } = scene(states);
  assert.deepEqual(next, [
    {
      why: "runs 2 instances, about 1 m 30 s of work as earlier runs took, 1 never timed",
      command: "pnpm pipeline run test --root 'my root'",
    },
    { why: "shows what would run, and why", command: "pnpm pipeline plan test --root 'my root'" },
  ]);
  const live = [liveRun({ life: "alive" })];
  assert.deepEqual(scene(states, { live }).commands, [
    "pnpm pipeline log 'make[word=alpha]' --root 'my root'",
  ]);
});

test("stale attempts that the profile reruns are part of the proposed run", () => {
  const { status, commands } = scene({ "attempt[word=alpha]": "stale" }, { left: false });
  assert.equal(status.toRun.instances, 1);
  assert.equal(status.toRun.leftStale, 0);
  assert.deepEqual(commands, [
    "pnpm pipeline run test --root 'my root'",
    "pnpm pipeline plan test --root 'my root'",
  ]);
});

test("running attempts are neither to run nor in the cost of missing ones", () => {
  const { status } = scene({ "attempt[word=alpha]": "running" }, { live: [liveRun()] });
  assert.equal(status.toRun.instances, 0);
  assert.equal(status.attempts?.cost.attempts, 0);
});

test("status shows the holder of each GPU in use on this host", () => {
  const { run, owner } = liveRun();
  const held = { owner, run, stage: "attempt[word=alpha]", since: "2026-01-31T10:07:00.000Z" };
  const gpus = [
    { ...held, index: 0, uuid: "GPU-1", model: "NVIDIA H100" },
    { ...held, index: 3, uuid: "MIG-2", model: "NVIDIA H100 MIG 1g.10gb" },
  ];
  const by = `attempt[word=alpha] of run ${run}, process 17 on gpu2 since 2026-01-31T09:59:59.000Z by its clock, for 3 m 0 s`;
  const lines = `
GPUs in use on this host
  0  NVIDIA H100 (GPU-1)  ${by}
  3  NVIDIA H100 MIG 1g.10gb (MIG-2)  ${by}
`;
  assert.ok(scene({}, { gpus }).text.includes(lines), scene({}, { gpus }).text);
});

test("the text of status leaves out what other selections and other pipelines do", () => {
  const owner = liveRun().owner;
  const since = "2026-01-31T10:07:00.000Z";
  const other = "attempt[word=gamma]";
  const { made, status } = scene(
    {},
    {
      live: [
        liveRun({
          run: "ours",
          stages: [
            { stage: "make[word=alpha]", since },
            { stage: other, since },
          ],
        }),
        liveRun({ run: "theirs", selection: "word=gamma", stages: [{ stage: other, since }] }),
      ],
      orphans: [other, "attempt[word=beta]"].map((stage) => ({ stage, since, supervisor: owner })),
      gpus: [{ owner, run: "theirs", stage: other, since, index: 0, uuid: "GPU-1", model: "NVIDIA H100" }],
      troubles: () => [{ stage: other, why: "machine: lost", command: "pnpm pipeline attempts resume 3f2a" }],
    },
  );
  const own = ofOwnPlan(status, made);
  const text = statusText(own, { next: [], now });
  assert.doesNotMatch(text, /gamma|theirs|GPU|resume/);
  assert.match(
    statusText(own, { next: [], now, root: "my root" }),
    /\nnot of this plan: 1 running attempt, 1 run; `pnpm pipeline attempts list --state running --root 'my root'`\n/,
  );
  assert.match(text, /run ours[^\n]*\n {2}make\[word=alpha\]/);
  assert.deepEqual(
    own.orphans.map(({ stage }) => stage),
    ["attempt[word=beta]"],
  );
});

test("running attempts of a stage that the plan no longer has are counted, and its other stages are not", () => {
  const since = "2026-01-31T10:07:00.000Z";
  const stages = ["make[word=gamma]", "earlier[word=alpha]", "attempt[word=gamma]"];
  const live = [liveRun({ stages: stages.map((stage) => ({ stage, since })) })];
  const { made, status } = scene({}, { live });
  assert.deepEqual(ofOwnPlan(status, made).others, { attempts: 2, runs: 0 });
  assert.doesNotMatch(scene({}, {}).text, /not of this plan/);
});

test("while other selections of the pipeline run, no next step starts a run", () => {
  const { made, status } = scene(
    { gather: "neverRun" },
    { live: [liveRun({ selection: "word=gamma", life: "alive", stages: [], waiting: [] })] },
  );
  const own = ofOwnPlan(status, made);
  assert.deepEqual(own.others, { attempts: 0, runs: 1 });
  const commands = nextSteps(own, { pipeline: "test", options: { root: "my root" } }).map(
    (one) => one.command,
  );
  assert.deepEqual(commands, ["pnpm pipeline attempts list --state running --root 'my root'"]);
  const alone = nextSteps({ ...own, others: { attempts: 0, runs: 0 } }, { pipeline: "test", options: {} });
  assert.match(alone[0]!.command, /^pnpm pipeline run test/);
});

test("an attempt that runs without a run is shown with its next steps", () => {
  const supervisor = { host: "gpu2", boot: "b", pid: 23, started: "5", since: "2026-01-31T10:00:00.000Z" };
  const stage = "attempt[word=alpha]";
  const orphans = [{ stage, since: "2026-01-31T10:07:00.000Z", supervisor }];
  const { text, commands } = scene({ [stage]: "running" }, { orphans });
  assert.match(
    text,
    /attempts running without a run\n {2}attempt\[word=alpha\] {2}for 3 m 0 s, process 23 on gpu2/,
  );
  assert.deepEqual(commands.slice(0, 2), [
    "pnpm pipeline run test --root 'my root'",
    "pnpm pipeline attempts stop 'attempt[word=alpha]' --root 'my root'",
  ]);
});

test("a waiting attempt is shown with cause, start and command", () => {
  const stage = "attempt[task=alpha,seed=1]";
  const waits: ShownWait[] = [
    {
      stage,
      command: "pnpm pipeline attempts resume 3f2a",
      waits: [
        {
          ...{ why: "operator", cause: "wrong-key", whose: "operator", detail: "401: no such\u001b[2J key" },
          since: "2026-01-31T10:07:00.000Z",
          nextTry: "2026-01-31T11:00:00.000Z",
          giveUpAt: "2026-02-03T10:07:00.000Z",
        },
      ],
    },
  ];
  const { text } = scene({}, { waits });
  const at = text.indexOf("waiting attempts");
  assert.ok(at > 0, text);
  const shown = text.slice(at);
  assert.ok(shown.includes(stage) && shown.includes("waits for you: wrong-key: 401: no such"), shown);
  assert.match(shown, /once repaired: pnpm pipeline attempts resume 3f2a; for .* since 2026-01-31T10:07:00Z/);
  assert.ok(!shown.includes("\u001b"));
});

test("a damaged attempt is shown with its folder, the fault and the way out", () => {
  const words =
    ".mlrb/attempts/running/0123 has an attempt.json that cannot be used: gives.0.file; put it back";
  const { text } = scene({}, { damaged: [words] });
  assert.ok(text.includes(`\ndamaged attempts, which may still be running\n  ${words}\n`), text);
});

test("a stage that a scheduler runs says how long it is queued, and how long it runs on its node", () => {
  const since = "2026-01-31T10:00:00.000Z";
  const later = "2026-01-31T10:08:00.000Z";
  const { text } = scene(
    {},
    {
      live: [
        liveRun({
          stages: [
            { stage: "prepare", since, place: { kind: "queued", since } },
            { stage: "score", since, place: { kind: "node", node: "n1", since: later, queuedMs: 480_000 } },
          ],
        }),
      ],
    },
  );
  assert.match(
    text,
    /\n {2}prepare {2}queued for 10 m 0 s\n {2}score {2}for 2 m 0 s on n1, queued 8 m 0 s before\n/,
  );
});

test("of a run, instances waiting for others and for its own resources are shown as in the live view", () => {
  const waiting = [
    {
      stage: "attempt[word=alpha]",
      why: "process 5 on gpu1 holds 2 GPUs",
      since: "2026-01-31T10:05:00.000Z",
    },
  ];
  const { text } = scene({}, { live: [liveRun({ waiting, queued: "3 wait for pool api:openai" })] });
  assert.match(text, /\n {2}attempt\[word=alpha\] {2}waits: process 5 on gpu1 holds 2 GPUs, for /);
  assert.match(text, /\n {2}3 wait for pool api:openai\n/);
});

test("status lists what the machine made fail with the command that mends it, made from the failed instances", () => {
  const command = "pnpm pipeline attempts resume 3f2a";
  const troubles = (failed: Ended[]) => failed.map(({ stage }) => ({ stage, why: "machine: lost", command }));
  const { text, status } = scene({ "attempt[word=alpha]": "failed" }, { troubles });
  assert.equal(status.troubles.length, 1);
  const shown = `\n  ${command}\n      attempt[word=alpha]: machine: lost\n`;
  assert.ok(text.includes(`infrastructure failures and waits; repair the cause, then type${shown}`), text);
  assert.doesNotMatch(scene({}).text, /infrastructure/);
});
