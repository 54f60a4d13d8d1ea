// The exact requests to a model in a conversation with most of a scaffold's texts. A difference is a new scaffold:
// raise its number in scaffold-versions.ts and in the presets, then UPDATE_GOLDEN=1 writes the new transcript.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { scaffoldVersions } from "@mlrb/formats/declared/scaffold-versions";
import type { Message } from "../model/model-client.ts";
import { bubblewrapMissing } from "../sandbox/bubblewrap-abilities.ts";
import {
  type Drive,
  type ScriptedAnswer,
  type SeenCall,
  scripted,
  workspaceIn,
} from "../testing/scripted-scaffold.ts";
import { scaffolds } from "./scaffolds.ts";

type Kind = ScaffoldSpec["kind"];
type Scene = {
  title: string;
  script: ScriptedAnswer[];
  used?: number[];
  contextTokens?: number;
  network?: boolean;
};

const first = { id: "1", parent: null, hypothesis: "h", change: "c", command: "x", decision: "keep" };
const metric = { name: "loss", split: "held out", value: 2.5 };

const scenes: Record<Kind, Scene[]> = {
  react: [
    {
      title: "an attempt",
      script: [
        {
          text: "I look around.",
          calls: [
            ["shell", { command: "ls" }],
            ["view_file", { path: "TASK.md" }],
          ],
        },
        { text: "I think." },
        {
          text: "I write and run.",
          calls: [
            ["write_file", { path: "train.py", text: "print('on')\nprint(6 * 7)\n" }],
            ["shell", { command: "python3 train.py; exit 3" }],
          ],
        },
        {
          calls: [
            ["edit_file", { path: "train.py", old: "6 * 7", new: "6 * 8" }],
            ["python", { code: "import sys, train; sys.exit(train.__name__)" }],
          ],
        },
        {
          calls: [
            ["shell", { command: "seq 1 20000" }],
            ["shell", { command: "exec sleep 60", timeoutSeconds: 1 }],
          ],
        },
        {
          calls: [
            ["note", { text: "Division is hard." }],
            ["iteration", { ...first, metric }],
            ["iteration", { id: {} }],
          ],
        },
        {
          calls: [
            ["fly", {}],
            ["shell", '{"command": "ls'],
          ],
        },
        { text: "Too long", finish: "length" },
        { text: "No.", finish: "refusal" },
        { calls: [["submit", {}]] },
        { calls: [["shell", { command: "echo '{}' > submission/config.json" }]] },
        { calls: [["submit", {}]] },
      ],
      used: [0, 0.1, 0.5, 0.6, 0.8, 0.9, 0.98],
    },
    {
      title: "a model that reads little, with a network",
      network: true,
      contextTokens: 12_000,
      script: [
        {
          calls: [
            ["note", { text: "The data are short." }],
            ["shell", { command: "seq 1 20000" }],
          ],
        },
        ...[1, 2, 3, 4, 5].map(
          (one): ScriptedAnswer => ({ calls: [["shell", { command: `echo ${one}; seq 1 2000` }]] }),
        ),
        { calls: [["submit", {}]] },
        { calls: [["submit", {}]] },
      ],
      used: [0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],
    },
  ],
  "supervisor-worker": [
    {
      title: "an attempt",
      script: [
        {
          text: "First the data.",
          calls: [
            ["note", { text: "Baseline first." }],
            ["delegate", { task: "Count the lines of data/train.txt." }],
          ],
        },
        {
          calls: [
            ["shell", { command: "wc -l < data/train.txt" }],
            ["note", { text: "One line." }],
          ],
        },
        { calls: [["return_result", { summary: "data/train.txt has 1 line." }]] },
        {
          calls: [
            ["view_file", { path: "data/train.txt" }],
            ["delegate", { task: "Train.", context: "One line is all there is." }],
          ],
        },
        ...[1, 2, 3].map((): ScriptedAnswer => ({ text: "I would rather not act." })),
        { calls: [["submit", {}]] },
        { calls: [["submit", {}]] },
      ],
      used: [0, 0, 0, 0.5],
    },
  ],
  "mlrb-2024": [
    {
      title: "an attempt",
      script: [
        { text: "1. Look at the data (1 h).\n2. Train (20 h)." },
        { text: "I look at the data.", calls: [["shell", { command: "wc -l < data/train.txt" }]] },
        {
          calls: [
            ["note", { text: "One line." }],
            ["shell", { command: "ls" }],
          ],
        },
        { text: "I think." },
        { text: "Too long", finish: "length" },
        { calls: [["shell", '{"command": "ls']] },
        { text: "No.", finish: "refusal" },
        { calls: [["submit", {}]] },
        { calls: [["submit", {}]] },
      ],
      used: [0, 0, 0.1, 0.5, 0.9],
    },
    {
      title: "with a network",
      network: true,
      script: [{}, { calls: [["submit", {}]] }, { calls: [["submit", {}]] }],
    },
  ],
};

async function transcript(t: TestContext, kind: Kind, sandboxKind: "plain" | "walled"): Promise<string> {
  const parts: string[] = [];
  for (const { title, script, used = [], contextTokens = 100_000, network = false } of scenes[kind]) {
    const sandbox = await workspaceIn(t, sandboxKind);
    const drive: Drive = { used: 0, leftMs: 0 };
    const set = (index: number) => {
      drive.used = used[index] ?? used.at(-1) ?? 0;
      drive.leftMs = (1 - drive.used) * 24 * 3_600_000;
    };
    set(0);
    const { request, seen } = scripted(
      (_, index) => {
        set(index + 1);
        return script[index]!;
      },
      sandbox,
      {
        spec: { kind },
        drive,
        network,
        model: { provider: "test", id: "test", contextTokens, maxOutputTokens: 1_000 },
      },
    );
    const end = await scaffolds[kind](request);
    parts.push(`======== ${title} ========`, ...requestTexts(seen), `== it ended: ${JSON.stringify(end)}\n`);
  }
  return parts.join("\n");
}

/** The new part of each request, compared with the one before in its conversation. */
function requestTexts(seen: SeenCall[]): string[] {
  const before = new Map<string, Message[]>();
  return seen.flatMap(({ by, messages, tools }, index) => {
    const known = before.get(by);
    before.set(by, messages);
    const same = known?.findIndex((one, at) => !isDeepStrictEqual(one, messages[at])) ?? 0;
    const from = same < 0 ? known!.length : same;
    return [
      `== request ${index + 1}, ${by}: ${from === 0 ? "" : `${from} messages as before, `}${messages.length - from} new`,
      ...(known ? [] : ["-- tools", ...tools.map((tool) => JSON.stringify(tool))]),
      ...messages.slice(from).map(messageText),
    ];
  });
}

function messageText(message: Message): string {
  const lines = message.text.split("\n");
  const text =
    lines.length <= 60
      ? message.text
      : [...lines.slice(0, 8), `(${lines.length - 16} lines)`, ...lines.slice(-8)].join("\n");
  switch (message.role) {
    case "assistant":
      return [`-- assistant\n${text}`, ...message.toolCalls.map((call) => JSON.stringify(call))].join("\n");
    case "tool":
      return `-- tool ${message.callId} ${message.name}${message.failed ? " failed" : ""}\n${text}`;
    default:
      return `-- ${message.role}\n${text}`;
  }
}

const missing = await bubblewrapMissing();
const walled = { timeout: 60_000, ...(missing !== undefined && { skip: missing }) };

for (const kind of ["react", "supervisor-worker", "mlrb-2024"] as const) {
  const version = scaffoldVersions[kind];
  const options = {
    timeout: 60_000,
    skip: process.platform === "linux" ? false : "the transcript is Linux's",
  };
  test(
    `scaffold ${version} of ${kind} says to a model what it said when it got that number`,
    options,
    async (t) => {
      const golden = join(import.meta.dirname, "../golden", `scaffold-${kind}-${version}.txt`);
      const now = await transcript(t, kind, "plain");
      if (process.env.UPDATE_GOLDEN) writeFileSync(golden, now);
      assert.ok(existsSync(golden), "UPDATE_GOLDEN=1 writes the transcript of a new version");
      assert.equal(
        now,
        readFileSync(golden, "utf8"),
        `models meet something else: raise scaffoldVersions.${kind} and scaffoldVersion in the presets, then UPDATE_GOLDEN=1`,
      );
    },
  );

  test(`what ${kind} says to a model is the same behind walls`, walled, async (t) => {
    const golden = join(import.meta.dirname, "../golden", `scaffold-${kind}-${version}.txt`);
    assert.equal(await transcript(t, kind, "walled"), readFileSync(golden, "utf8"));
  });
}
