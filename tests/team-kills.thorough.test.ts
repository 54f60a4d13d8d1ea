// The supervisor of a team, killed at random times (MLRB_TEST_TEAM_KILLS: more) and started again as a run does. No
// model call is sent twice except those that were in flight, the board has each message once and in order, members
// that had ended stay ended, and the recorded cost contains every call.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { seededRandom } from "@mlrb/core/statistics/random";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { callsOf, lastSpending } from "@mlrb/kit/attempts/last-spending";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { endProcesses } from "@mlrb/kit/processes/end-processes";
import { readLedger } from "@mlrb/kit/rules/ledger";
import { type Answer, startLoopbackProvider } from "./support/providers/loopback-provider.ts";
import { testSeed } from "./support/test-seed.ts";

const kills = Number(process.env.MLRB_TEST_TEAM_KILLS ?? 6);
const step = join(import.meta.dirname, "../pipelines/steps/attempt.ts");
const keyName = "MLRB_TEST_TEAM_KEY";

const calls = (...made: [name: string, input: object][]): Answer => ({
  toolCalls: made.map(([name, input]) => ({ name, input: { ...input } })),
  usage: { input: 100, output: 10 },
});
const tell = (to: string, text: string, purpose?: string): [string, object] => [
  "send_message",
  { to, text, ...(purpose && { purpose }) },
];
const hear: [string, object] = ["read_messages", { wait_seconds: 30 }];
const submits = calls(["submit", {}], ["submit", {}]);

/** Each message follows from the one before; `pinger` is a program. */
const answers: Record<string, Answer[]> = {
  lead: [
    calls(["note", { text: "a plan" }]),
    calls(tell("coder", "begin", "hand-over")),
    calls(hear),
    calls(["shell", { command: "sleep 1" }]),
    calls(tell("coder", "thanks")),
    calls(hear),
    submits,
  ],
  coder: [
    calls(hear),
    calls(["write_file", { path: "submission/model", text: "m" }]),
    calls(tell("lead", "trained")),
    calls(hear),
    calls(tell("pinger", "ping")),
    submits,
  ],
};
// what it had sent before a restart lies in its inbox or in its outbox no more, so it remembers
const pinger = `
inbox="$MLRB_BOARD/inbox/pinger"; outbox="$MLRB_BOARD/outbox/pinger"
until grep -q ping "$inbox"/*.json 2>/dev/null; do sleep 0.05; done
if [ ! -e sent ]; then
  printf '{"to": "lead", "text": "pong"}' > "$outbox/.new" && mv "$outbox/.new" "$outbox/pong.json" && touch sent
fi
sleep 1
`;

const expected = [
  "lead to coder: begin",
  "coder to lead: trained",
  "lead to coder: thanks",
  "coder to pinger: ping",
  "pinger to lead: pong",
];

test(`a team survives ${kills} kills of its supervisor`, { timeout: 240_000 }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "team-kills-"));
  t.after(() => removeFolder(folder));
  const token = `team-kills-${process.pid}`;
  const random = seededRandom(testSeed).fraction;
  const asked = new Map<string, number>();
  const provider = await startLoopbackProvider({
    async script({ model, messages }) {
      const at = messages.filter(({ role }) => role === "assistant").length;
      asked.set(`${model} ${at}`, (asked.get(`${model} ${at}`) ?? 0) + 1);
      await sleep(100 + 400 * random());
      return answers[model]![at]!;
    },
  });
  t.after(() => provider.close());
  const at = (...names: string[]) => join(folder, ...names);
  const work = at("attempt");
  for (const name of ["data", "program", "attempt", "attempt/submission", "attempt/snapshots"])
    mkdirSync(at(name));
  writeFileSync(at("data/train.txt"), "public\n");
  writeFileSync(at("program/pinger.sh"), pinger);
  writeFileSync(at("prompt.md"), "Do the task until {{deadline}}.\n");
  const model = (id: string) => ({
    ...{ kind: "llm", provider: "p", scaffold: "react", secrets: [keyName] },
    model: { id, baseUrl: provider.baseUrl, key: keyName, contextTokens: 50_000, free: true },
  });
  const team = {
    members: [
      { name: "lead", agent: "leader", role: "You lead.", preset: model("lead") },
      { name: "coder", agent: "worker", preset: model("coder") },
      {
        ...{ name: "pinger", agent: "pings", after: ["lead"] },
        preset: { kind: "command", command: ["sh", "./pinger.sh"] },
      },
    ],
  };
  const out = (name: string) => join(work, name);
  const argv = [
    ...["--axis", "task=some-task", "--axis", "agent=test", "--axis", "seed=1"],
    ...[
      "--param",
      "kind=team",
      "--param",
      "trusted=true",
      "--param",
      `team=${JSON.stringify(team)}`,
      "--param",
      `program=${at("program")}`,
    ],
    ...["--param", `secrets=${JSON.stringify([keyName])}`, "--param", `prompt=${at("prompt.md")}`],
    ...["--budget", "time=10m", "--input", `public=${at("data")}`],
    ...["--output", `submission=${out("submission")}`, "--output", `trajectory=${out("trajectory.jsonl")}`],
    ...["--output", `ledger=${out("ledger.json")}`, "--output", `snapshots=${out("snapshots")}`],
  ];
  const start = () => {
    const child = spawn(process.execPath, [step, ...argv], {
      env: { ...process.env, MLRB_WORK: work, MLRB_TOKEN: token, [keyName]: provider.key },
      stdio: ["ignore", "ignore", "pipe"],
    });
    let complaint = "";
    child.stderr.on("data", (text) => {
      complaint += text;
    });
    const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
    return { child, ended, complaint: () => complaint };
  };
  const trajectory = out("trajectory.jsonl");
  const lines = () => (existsSync(trajectory) ? readFileSync(trajectory, "utf8").split("\n").length : 0);
  let killed = 0;
  while (killed < kills) {
    const run = start();
    // each one comes some lines further, so that kills fall in all parts of the attempt
    const until = lines() + 2 + Math.floor(random() * 12);
    let over = false;
    void run.ended.then(() => {
      over = true;
    });
    while (!over && lines() < until) await sleep(5);
    await sleep(60 * random());
    if (over) break;
    run.child.kill("SIGKILL");
    await run.ended;
    killed++;
    await endProcesses({ token, root: folder, groups: [] }); // as a run does before the attempt continues
  }
  assert.ok(killed >= Math.min(kills, 4), `only ${killed} kills`);
  if (!existsSync(out("ledger.json"))) {
    const last = start();
    assert.equal(await last.ended, 0, last.complaint());
  }
  const ledger = readLedger(out("ledger.json"));
  assert.ok(typeof ledger !== "string" && "ended" in ledger, `seed ${testSeed}`);
  assert.equal((await verifyTrajectory(trajectory, ledger.trajectory)).kind, "intact");
  const events: TrajectoryEvent[] = readFileSync(trajectory, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const about = `MLRB_TEST_SEED=${testSeed}, ${killed} kills`;
  assert.equal(ledger.ended, "submitted", about);
  assert.equal(ledger.resumed, killed, about);
  assert.deepEqual(readdirSync(out("submission")), ["model"]);
  const board = events.flatMap((event) =>
    event.event === "board" ? [`${event.member} to ${event.to}: ${event.text}`] : [],
  );
  assert.deepEqual(board, expected, about);
  const ends = events.flatMap((event) => (event.event === "member-end" ? [event.member] : []));
  assert.deepEqual(ends.toSorted(), ["coder", "lead", "pinger"], about);
  const requests = [...asked.values()].reduce((sum, one) => sum + one, 0);
  const answered = events.filter(({ event }) => event === "model-call").length;
  assert.equal(answered, asked.size, `${about}: each call has one answer on record`);
  assert.ok(
    requests - answered <= 2 * killed,
    `${about}: at most the calls of two members in flight were repeated`,
  );
  const spending = lastSpending(out("spending.jsonl"))!;
  assert.ok(callsOf(spending) >= requests, `${about}: ${callsOf(spending)} counted, ${requests} sent`);
  assert.deepEqual(
    ledger.members?.map(({ calls, messages }) => [calls, messages]),
    [
      [7, 2],
      [6, 2],
      [0, 1],
    ],
    about,
  );
});
