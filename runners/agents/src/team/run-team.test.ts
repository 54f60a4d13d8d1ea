import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ledgerFile } from "@mlrb/formats/attempt/ledger";
import { trajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { checkFormat } from "@mlrb/formats/read-format";
import { verifyTrajectory } from "@mlrb/kit/attempts/verify-trajectory";
import { bubblewrapMissing } from "../sandbox/bubblewrap-abilities.ts";
import { bubblewrapWalls } from "../sandbox/bubblewrap-walls.ts";
import { walledSandbox } from "../sandbox/walled-sandbox.ts";
import { priceBook } from "../spending/prices.ts";
import { boardOf, calls, endsOf, submits, type TeamLab, teamLab, usage } from "../testing/team-lab.ts";

/** Sends a message from a shell script. */
const send = (name: string, message: object) =>
  `printf '%s' '${JSON.stringify(message)}' > "$MLRB_BOARD/outbox/$MLRB_MEMBER/.new" && mv "$MLRB_BOARD/outbox/$MLRB_MEMBER/.new" "$MLRB_BOARD/outbox/$MLRB_MEMBER/${name}.json"\n`;
const awaits = (number: number) =>
  `until [ -e "$MLRB_BOARD/inbox/$MLRB_MEMBER/00000${number}.json" ]; do sleep 0.02; done\n`;

test("a model and a program work together: messages, a hand-over, one submission, one ledger", async (t) => {
  const lab = await teamLab(t, {
    lead: {
      role: "You plan.",
      answers: [
        calls(["send_message", { to: "coder", text: "use 3 layers", purpose: "hand-over" }]),
        calls(["read_messages", { wait_seconds: 60 }]),
        calls(["shell", { command: "cat result; echo lead >> submission/model" }]),
        submits,
      ],
    },
    coder: {
      after: ["lead"],
      script: `${awaits(1)}cat "$MLRB_BOARD/inbox/coder/000001.json"; echo trained > result; ${send("done", { to: "lead", text: "trained: result" })}`,
    },
  });
  const { events, ledger, submitted, files } = await lab.run();
  const begun = events.find((event) => event.event === "start");
  assert.equal(begun?.membersCall, true, "so that it continues after the death of its host");
  assert.deepEqual(boardOf(events), [
    "lead to coder, hand-over: use 3 layers",
    "coder to lead, message: trained: result",
  ]);
  assert.deepEqual(endsOf(events), { coder: "exited", lead: "submitted" });
  assert.deepEqual([ledger.ended, submitted], ["submitted", ["model"]]);
  const read = events.find((event) => event.event === "tool-result" && event.name === "read_messages");
  assert.equal(
    read?.event === "tool-result" && read.text,
    "Messages 1-1 of 1.\n\n[1] from coder:\ntrained: result",
  );
  const output = events.find((event) => event.event === "output");
  assert.equal(output?.member, "coder");
  assert.match(JSON.stringify(output), /use 3 layers/);
  const [lead, coder] = ledger.members!;
  assert.deepEqual(lead, {
    ...{ name: "lead", agent: "test-lead", kind: "llm", calls: 4, inputTokens: 400, outputTokens: 40 },
    ...{ dollars: 0, waitedMs: 0, messages: 1, messageCharacters: 12, end: "submitted" },
  });
  assert.deepEqual([coder!.calls, coder!.messages, coder!.end], [0, 1, "exited 0"]);
  assert.deepEqual(ledger.talking, { calls: 2, inputTokens: 200, outputTokens: 20, dollars: 0 });
  assert.equal(ledger.tokens, 440);
  for (const event of events) assert.equal(checkFormat(trajectoryEvent, event).kind, "ok");
  assert.equal(
    checkFormat(ledgerFile, JSON.parse(readFileSync(join(files, "ledger.json"), "utf8"))).kind,
    "ok",
  );
  assert.equal((await verifyTrajectory(join(files, "trajectory.jsonl"), ledger.trajectory)).kind, "intact");
  const started = events.filter(({ event }) => event === "member-start" || event === "board");
  assert.deepEqual(
    started.map(({ event, member }) => `${event} ${member}`),
    ["member-start lead", "board lead", "member-start coder", "board coder"],
  );
  const task = lab.seen[0]!.messages.find(({ role }) => role === "user")!.text;
  assert.match(task, /You are lead, in a team of 2/);
  assert.match(task, /- lead: You plan\./);
});

test("hostile files in an outbox are refused and recorded, and good ones still arrive", async (t) => {
  const box = "$MLRB_BOARD/outbox/$MLRB_MEMBER";
  const lab = await teamLab(t, {
    evil: {
      script: `cd "${box}"
ln -s /etc/passwd link.json; mkdir folder.json; mkdir full.json; touch full.json/x; mkfifo pipe.json
head -c 300000 /dev/zero | tr '\\0' a > huge.json
printf '{"to": "good"' > torn.json; printf '\\377\\376' > bytes.json
printf '{"to": "nobody", "text": "x"}' > to.json; printf '{"to": "evil", "text": "x"}' > self.json
head -c 20000 /dev/zero | tr '\\0' a > text; printf '{"to": "good", "text": "%s"}' "$(cat text)" > long.json
printf '{"to": "good", "text": "\\\\ud800 lone"}' > lone.json
printf 'not a message' > ignored.txt
sleep 0.3; ${send("zz", { to: "all", text: "hello" })}`,
    },
    good: { script: `${awaits(2)}cat "$MLRB_BOARD/inbox/good/"*.json > submission/got` },
  });
  const { events, files } = await lab.run();
  const refused = events.flatMap((event) => (event.event === "board-refused" ? event.because : []));
  const of = (name: string) => refused.filter((because) => because.startsWith(`"${name}.json"`));
  for (const [name, why] of [
    ["link", /symbolic link/],
    ["folder", /no regular file/],
    ["full", /no regular file/],
    ["pipe", /no regular file/],
    ["huge", /more than \d+ bytes/],
    ["torn", /not JSON/],
    ["bytes", /not UTF-8/],
    ["to", /no other member is called "nobody"; there are good, and all/],
    ["self", /no other member/],
    ["long", /may have 16384 bytes, this one has 20000/],
  ] as const) {
    assert.equal(of(name).length, 1, name);
    assert.match(of(name)[0]!, why);
  }
  assert.deepEqual(boardOf(events), ["evil to good, message: \ufffd lone", "evil to all, message: hello"]);
  const got = readFileSync(join(files, "submission/got"), "utf8").trimEnd().split("\n");
  assert.deepEqual(
    got.map((line) => JSON.parse(line)),
    [
      { number: 1, from: "evil", to: "good", purpose: "message", text: "\ufffd lone" },
      { number: 2, from: "evil", to: "all", purpose: "message", text: "hello" },
    ],
  );
});

test("a member that fails ends alone, and the team ends as its best member", async (t) => {
  const lab = await teamLab(t, {
    broken: { script: "exit 3" },
    silent: {
      answers: [
        { text: "No.", finish: "refusal", usage },
        { text: "No.", finish: "refusal", usage },
      ],
    },
    worker: { after: ["broken", "silent"], script: "echo m > submission/m" },
  });
  const { events, ledger, submitted } = await lab.run();
  assert.deepEqual(endsOf(events), { broken: "exited", silent: "refused", worker: "exited" });
  assert.deepEqual([ledger.ended, submitted], ["finished", ["m"]]);
  assert.deepEqual(
    ledger.members!.map(({ end }) => end),
    ["exited 3", "refused", "exited 0"],
  );
});

test("a team whose members all fail has failed, and one that cannot be started is the preset's fault", async (t) => {
  const failing = await teamLab(t, { a: { script: "exit 3" }, b: { script: "kill -9 $$" } });
  assert.equal((await failing.run()).ledger.ended, "agent-error");
  const lab = await teamLab(t, { a: { script: "sleep 60" }, b: { script: "true" } });
  lab.team.members[1]!.command = ["/no/such/program"];
  await assert.rejects(lab.run(), /agent "test, member b": its program could not be started/);
});

test("the deadline ends all members, also one that had not started", async (t) => {
  const lab = await teamLab(t, {
    lead: { answers: [calls(["read_messages", { wait_seconds: 600 }])] },
    worker: { script: "sleep 60" },
    late: { after: ["worker"], script: "true" },
  });
  const { events, ledger } = await lab.run({ budget: { timeMs: 1_500 } });
  assert.equal(ledger.ended, "time-limit");
  assert.deepEqual(endsOf(events), { lead: "time-limit", worker: "time-limit" });
  assert.deepEqual(
    ledger.members!.map(({ end }) => end),
    ["time-limit", "time-limit", "not started"],
  );
  assert.equal(events.at(-1)!.event, "end");
});

test("members with workspaces of their own share data, submission and one folder", async (t) => {
  const show =
    "ls; cat data/train.txt; head -c 8 TASK.md; grep -o 'You are [a-z]*' TASK.md; echo $MLRB_SHARED";
  const lab = await teamLab(
    t,
    {
      lead: {
        answers: [
          calls(
            ["write_file", { path: "own.txt", text: "mine" }],
            ["write_file", { path: "submission/model", text: "m" }],
            ["write_file", { path: "../shared/plan", text: "plan" }],
            ["view_file", { path: "data/train.txt" }],
            ["python", { code: "print(open('own.txt').read())" }],
            ["shell", { command: show }],
            ["write_file", { path: "../../home/x", text: "m" }],
          ),
          submits,
        ],
      },
      coder: {
        after: ["lead"],
        script: `cat "$MLRB_SHARED/plan"; test ! -e own.txt && echo apart; cat submission/model; pwd`,
      },
    },
    { workspace: "own" },
  );
  const { events, submitted } = await lab.run();
  const results = events.flatMap((event) =>
    event.event === "tool-result" && event.name !== "submit" ? [`${event.outcome}: ${event.text}`] : [],
  );
  assert.match(results[3]!, /public/);
  assert.match(results[4]!, /mine/);
  assert.match(
    results[5]!,
    /TASK\.md\ndata\ndeadline\niterations\.jsonl\noutputs\nown\.txt\nsubmission\npublic\nDo the tYou are lead\n.*\/workspace\/shared/,
  );
  assert.match(results[6]!, /^refused: .*outside of the workspace/);
  assert.deepEqual(
    results.map((text) => text.split(":")[0]),
    ["done", "done", "done", "done", "done", "done", "refused"],
  );
  const output = events.flatMap((event) => (event.event === "output" ? [event.text] : [])).join("");
  assert.match(output, /^planapart\nm.*\/workspace\/coder\n$/s);
  assert.deepEqual(submitted, ["model"]);
});

test("divided resources: each member is told its part", async (t) => {
  const script = 'echo "$MLRB_MEMBER $OMP_NUM_THREADS $MLRB_MEMORY_BYTES $MLRB_GPUS $CUDA_VISIBLE_DEVICES"';
  const gpu = (uuid: string) => ({ uuid, model: "H", memoryBytes: 1, driver: "1", index: 0 });
  const gpus = ["GPU-a", "GPU-b", "GPU-c"].map(gpu) as never;
  const printed = async (resources: "shared" | "divided") => {
    const lab = await teamLab(t, { a: { script }, b: { script } }, { resources });
    const { events } = await lab.run({ cpus: 4, memoryBytes: 1000, gpus });
    return events.flatMap((event) => (event.event === "output" ? event.text.trim() : [])).sort();
  };
  assert.deepEqual(await printed("divided"), ["a 2 500 1 GPU-a", "b 2 500 2 GPU-b,GPU-c"]);
  assert.deepEqual(await printed("shared"), ["a 4  3 GPU-a,GPU-b,GPU-c", "b 4  3 GPU-a,GPU-b,GPU-c"]);
});

test("one purse: no more than one call of the members is over the limit, and the attempt then ends", async (t) => {
  let open = 0;
  let most = 0;
  const answers = async () => {
    most = Math.max(most, ++open);
    await new Promise((resolve) => setTimeout(resolve, 30));
    open--;
    return { ...calls(["note", { text: "x" }]), usage: { input: 2000, output: 500 } };
  };
  const lab = await teamLab(t, { a: { answers }, b: { answers }, c: { answers }, d: { script: "sleep 60" } });
  const limit = 60_000;
  const { ledger, events } = await lab.run({ budget: { timeMs: 60_000, tokens: limit } });
  assert.equal(ledger.ended, "token-limit");
  assert.ok(ledger.tokens! < limit + 2500 && ledger.tokens! >= limit, String(ledger.tokens));
  assert.ok(most > 1, "they called at the same time while there was room");
  assert.equal(Object.keys(endsOf(events)).length, 4);
});

test("one purse of dollars at token prices: members are charged, and no more than one call is over the limit", async (t) => {
  const answers = () => ({ ...calls(["note", { text: "x" }]), usage: { input: 2000, output: 500 } });
  const lab = await teamLab(t, { a: { answers }, b: { answers } }, { priced: true });
  // dollars for a million tokens: a call costs 0.07 with a, and 0.007 with b
  const prices = priceBook([{ run: null, prices: ["a=10/100", "b=1/10"] }]);
  const { ledger } = await lab.run({ prices, budget: { timeMs: 60_000, dollars: 1 } });
  assert.equal(ledger.ended, "dollar-limit");
  assert.ok(ledger.dollars! >= 1 && ledger.dollars! < 1.07, String(ledger.dollars));
  const [a, b] = ledger.members!;
  assert.ok(
    Math.abs(a!.dollars! - 0.07 * a!.calls) < 1e-9 && Math.abs(b!.dollars! - 0.007 * b!.calls) < 1e-9,
  );
  assert.ok(a!.calls > 1 && b!.calls > 1 && Math.abs(a!.dollars! + b!.dollars! - ledger.dollars!) < 1e-9);
  assert.deepEqual(ledger.prices?.map(({ model, input, output }) => [model, input, output]).sort(), [
    ["a", 10, 100],
    ["b", 1, 10],
  ]);
});

/** Notes the time again and again, from a process of the background. */
const ticks = (name: string) =>
  `setsid sh -c 'while :; do date +%s%N >> ticks.${name}; sleep 0.05; done' > /dev/null 2>&1 &`;
const limited = { status: 429, complaint: "rate-limit" as const, retryAfterMs: 2_500 };

/** The times that were noted, in ms. */
const ticksOf = (folder: string, name: string) =>
  readFileSync(join(folder, `ticks.${name}`), "utf8")
    .trim()
    .split("\n")
    .map((time) => Number(time) / 1e6);

/** The longest time in which nothing was noted: its begin and its end. */
function longestGap(times: number[]): [from: number, to: number] {
  const gaps = times.slice(1).map((time, at): [number, number] => [times[at]!, time]);
  return gaps.toSorted(([a, b], [c, d]) => d - c - (b - a))[0]!;
}

const sandboxes: [string, Parameters<typeof teamLab>[2]][] = [
  ["plain", {}],
  ["walled", { open: (under) => walled(under) }],
];

for (const [kind, given] of sandboxes)
  test(`a member that waits is frozen alone, and the deadline stays (${kind})`, async (t) => {
    const missing = kind === "walled" ? await bubblewrapMissing() : undefined;
    if (missing !== undefined) return t.skip(missing);
    const lab = await teamLab(
      t,
      {
        waiter: {
          answers: (step) =>
            step === 0
              ? calls(["shell", { command: ticks("waiter") }])
              : seenOf(lab, "waiter") === 2
                ? limited
                : submits,
        },
        worker: { script: `${ticks("worker")}\nsleep 5; cp ticks.* submission/` },
      },
      given,
    );
    const { events, ledger, files } = await lab.run();
    const waits = events.filter(({ event }) => event === "wait" || event === "member-wait");
    assert.equal(waits.length, 1, JSON.stringify(waits));
    const [wait] = waits;
    assert.ok(wait?.event === "member-wait" && wait.frozen && wait.durationMs >= 2_400, JSON.stringify(wait));
    assert.equal(ledger.members![0]!.waitedMs, wait.durationMs);
    assert.ok(ledger.wallMs - ledger.workingMs < 5, "no time was given back");
    const [from, to] = longestGap(ticksOf(join(files, "submission"), "waiter"));
    assert.ok(to - from > 1_800, `frozen for ${to - from} ms`);
    const meanwhile = ticksOf(join(files, "submission"), "worker").filter((time) => time > from && time < to);
    assert.ok(meanwhile.length > 5, `the other member worked: ${meanwhile.length}`);
  });

test("where no member can work, everything is frozen and the deadline moves", async (t) => {
  const answers = (name: string) => (step: number) =>
    step === 0 && seenOf(lab, name) === 1 ? limited : submits;
  const lab = await teamLab(t, {
    a: { answers: answers("a") },
    b: { answers: answers("b") },
    c: { answers: [calls(["read_messages", { wait_seconds: 4 }]), submits] },
    d: { after: ["a"], script: "echo m > submission/m" },
  });
  const { events, ledger } = await lab.run();
  const wait = events.find((event) => event.event === "wait");
  assert.ok(wait?.event === "wait" && wait.frozenMs > 1_500, JSON.stringify(wait));
  assert.ok(ledger.wallMs - ledger.workingMs > 1_500);
  assert.equal(Object.keys(endsOf(events)).length, 4);
});

const seenOf = (lab: TeamLab, name: string) => lab.seen.filter(({ model }) => model === name).length;

let walls = 0;
function walled(under: string) {
  return walledSandbox({
    ...{
      under,
      agent: "test",
      open: bubblewrapWalls,
      kind: "bubblewrap",
      reads: [],
      gpus: [],
      network: "none",
    },
    limits: { memoryBytes: 2 ** 29, processes: 128, diskBytes: 2 ** 30, cpus: 1 },
    token: `team${process.pid}-${++walls}`,
  });
}

test("a program's calls go through a gateway of its own, and count for it", async (t) => {
  const ask = (model: string) =>
    `python3 - <<'EOF'
import json, os, urllib.request
body = {"model": "${model}", "max_tokens": 9, "messages": [{"role": "user", "content": "hello"}]}
request = urllib.request.Request(os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages", json.dumps(body).encode(),
    {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"})
print(json.load(urllib.request.urlopen(request, timeout=30))["content"][0]["text"])
EOF`;
  const lab = await teamLab(t, {
    one: { script: `${ask("claude-test")}\n${ask("claude-test")}`, gateway: true },
    two: { script: ask("claude-test"), gateway: true },
    three: { answers: [submits] },
  });
  const { events, ledger } = await lab.run();
  assert.deepEqual(endsOf(events), { one: "exited", two: "exited", three: "submitted" });
  const made = events.flatMap((event) =>
    event.event === "model-call" ? [`${event.call} ${event.member}`] : [],
  );
  assert.deepEqual(made.map((one) => one.split(" ")[1]).sort(), ["one", "one", "three", "two"]);
  assert.equal(new Set(made.map((one) => one.split(" ")[0])).size, 4, "one series of numbers");
  assert.deepEqual(
    ledger.members!.map(({ calls }) => calls),
    [2, 1, 1],
  );
});
