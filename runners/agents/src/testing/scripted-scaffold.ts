// For tests of scaffolds: a model that answers from a script, a budget that the test sets, and a workspace in a
// sandbox.
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { TrajectoryEvent } from "@mlrb/formats/attempt/trajectory";
import { removeDiskImages } from "@mlrb/kit/files/disk-image";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import type { Json } from "@mlrb/kit/stage";
import type { Meter, OverBudget } from "../attempt/meter.ts";
import { inside } from "../attempt/workspace.ts";
import type { Message, ModelResponse, ToolCall, ToolSpec } from "../model/model-client.ts";
import { bubblewrapWalls } from "../sandbox/bubblewrap-walls.ts";
import { plainSandbox } from "../sandbox/plain-sandbox.ts";
import { walledSandbox } from "../sandbox/walled-sandbox.ts";
import { sharedOf } from "../scaffold/converse.ts";
import { noticesOf } from "../scaffold/notices.ts";
import type { AskResult, ScaffoldRequest } from "../scaffold/scaffold.ts";
import type { ToolTimeouts, ToolWorld } from "../scaffold/tool.ts";
import { heldCall } from "./held-call.ts";

export function base(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "scaffold-"));
  t.after(async () => {
    await removeDiskImages(folder); // the sandbox is closed only after this
    removeFolder(folder);
  });
  return folder;
}

/** A sandbox with a workspace in it; `walled` needs bubblewrap. */
export async function workspaceIn(
  t: TestContext,
  kind: "plain" | "walled",
  limits: Partial<{ memoryBytes: number; processes: number; diskBytes: number }> = {},
): Promise<Sandbox> {
  const folder = base(t);
  const under = join(folder, "sandboxes");
  const sandbox =
    kind === "plain"
      ? await plainSandbox(under)
      : await walledSandbox({
          ...{ under, agent: "test", open: bubblewrapWalls, kind: "bubblewrap", reads: [], gpus: [] },
          network: "none",
          limits: { memoryBytes: 2 ** 29, processes: 128, diskBytes: 2 ** 34, cpus: 1, ...limits },
          token: `scaffoldtest${process.pid}-${++sandboxes}`,
        });
  t.after(() => sandbox.close());
  for (const name of ["data", "submission"]) mkdirSync(join(folder, name));
  for (const name of ["TASK.md", "iterations.jsonl", "data/train.txt"])
    writeFileSync(join(folder, name), name === "iterations.jsonl" ? "" : `${name}, first line\n`);
  await sandbox.put(join(folder, "data"), inside.data, { readOnly: true });
  await sandbox.put(join(folder, "submission"), inside.submission);
  await sandbox.put(join(folder, "iterations.jsonl"), inside.iterations);
  await sandbox.put(join(folder, "TASK.md"), `${inside.workspace}/TASK.md`);
  return sandbox;
}

let sandboxes = 0;

export type Drive = { used: number; leftMs: number; over?: OverBudget };

/** A budget that the test sets. */
function drivenMeter(drive: Drive): Meter {
  const spending = { calls: 0, failedTries: 0, uncounted: 0, inputTokens: 0, outputTokens: 0 };
  const estimated = { calls: 0, answers: 0, inputTokens: 0, outputTokens: 0, dollars: 0 };
  return {
    leftMs: () => drive.leftMs,
    deadline: () => 0,
    usedShare: () => drive.used,
    waiting: (_, wait) => wait(),
    hold: () => heldCall,
    overCap: () => undefined,
    charge: () => {},
    over: () => drive.over,
    spending: () => ({
      ...spending,
      cachedInputTokens: 0,
      reasoningTokens: 0,
      dollars: null,
      estimated,
      waitedMs: {},
    }),
  };
}

export type ScriptedAnswer = {
  text?: string;
  calls?: [name: string, input: Record<string, Json> | string][];
  finish?: ModelResponse["finish"];
  usage?: ModelResponse["usage"];
};

export type SeenCall = { by: string; messages: Message[]; tools: ToolSpec[] };

/** The answers: a list, or a function of each request. */
export type Script =
  | (ScriptedAnswer | AskResult)[]
  | ((seen: SeenCall, index: number) => ScriptedAnswer | AskResult);

export function scripted(
  script: Script,
  sandbox: Sandbox,
  more: Partial<ScaffoldRequest> & { drive?: Drive } = {},
): { request: ScaffoldRequest; seen: SeenCall[]; events: TrajectoryEvent[] } {
  const seen: SeenCall[] = [];
  const events: TrajectoryEvent[] = [];
  const { drive = { used: 0, leftMs: 3_600_000 }, ...rest } = more;
  const spec = rest.spec ?? { kind: "react" };
  const meter = drivenMeter(drive);
  const request: ScaffoldRequest = {
    ...{ spec, meter, scratch: tmpdir(), noticesDue: noticesOf(spec.kind, meter) },
    model: { provider: "test", id: "test", contextTokens: 100_000 },
    prompt: "Do the task.\n",
    sandbox,
    cwd: sandbox.seenAs(inside.workspace),
    env: { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8", PYTHONDONTWRITEBYTECODE: "1" },
    network: false,
    async ask(by, messages, tools) {
      const now = { by, messages: structuredClone(messages), tools: structuredClone(tools) };
      seen.push(now);
      const index = seen.length - 1;
      const said = typeof script === "function" ? script(now, index) : script[index];
      if (said === undefined) throw new Error(`the script has no answer ${index + 1}`);
      return "kind" in said ? said : { kind: "answered", response: responseOf(said, index) };
    },
    write: (event) => void events.push(event),
    signal: new AbortController().signal,
    ...rest,
  };
  return { request, seen, events };
}

function responseOf(
  { text = "", calls = [], finish, usage = null }: ScriptedAnswer,
  index: number,
): ModelResponse {
  const toolCalls: ToolCall[] = calls.map(([name, input], at) => {
    const id = `call-${index + 1}-${at + 1}`;
    return typeof input === "string" ? { id, name, malformed: input } : { id, name, input };
  });
  return {
    ...{ text, reasoning: null, toolCalls, usage, answeredBy: null },
    finish: finish ?? (calls.length > 0 ? "tool-calls" : "stop"),
  };
}

/** The world of a tool, outside a conversation. */
export function toolWorld(
  sandbox: Sandbox,
  more: Partial<ScaffoldRequest> & { drive?: Drive; patience?: ToolTimeouts } = {},
): { world: ToolWorld; events: TrajectoryEvent[] } {
  const { patience, ...rest } = more;
  const { request, events } = scripted([], sandbox, rest);
  const { world } = sharedOf(request);
  return { world: { ...world, by: "agent", ...(patience && { patience }) }, events };
}
