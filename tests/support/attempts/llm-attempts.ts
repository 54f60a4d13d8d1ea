// Attempts of a language model at an empty task, by the benchmark's own step, with a provider that plays a test's
// script.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Ledger } from "@mlrb/formats/attempt/ledger";
import { recordsIn } from "../end-state.ts";
import type { Lab } from "../lab.ts";
import {
  LOOPBACK_KEY,
  type LoopbackProvider,
  type Script,
  startLoopbackProvider,
} from "../providers/loopback-provider.ts";
import { attemptStage, emptyData } from "./attempt-stages.ts";

/** The variable with the loopback's key. */
export const keyName = "LOOPBACK_API_KEY";
export const keyEnv = { [keyName]: LOOPBACK_KEY };

type LlmAttemptOptions = {
  /** `openai` and `anthropic` use their own protocols; any other name uses OpenAI's chat completions. */
  provider?: string;
  scaffold?: "react" | "supervisor-worker" | "mlrb-2024";
  turnsMax?: number;
  free?: boolean;
  budget?: Record<string, string | number>;
  prompt?: string;
  /** More settings of the stage. */
  attempt?: Record<string, unknown>;
  /** Stages in addition to data and attempt. */
  stages?: Record<string, Record<string, unknown>>;
  /** Axes in addition to task, agent and seed. */
  axes?: Record<string, unknown>;
  /** Parameters that add to these or replace them. */
  params?: Record<string, unknown>;
};

export function defineLlmAttempt(
  at: Lab,
  provider: Pick<LoopbackProvider, "baseUrl">,
  asked: LlmAttemptOptions = {},
): void {
  const { provider: name = "loopback", scaffold = "react", budget = { time: "60s" }, attempt = {} } = asked;
  at.script("prompt.md", asked.prompt ?? "Write something into submission/. Until {{deadline}}.\n");
  const prompt = `${at.name}/prompt.md`;
  at.define({
    axes: { task: ["empty"], agent: ["model"], seed: [1], ...asked.axes },
    stages: {
      data: emptyData,
      attempt: attemptStage({
        params: {
          kind: "llm",
          provider: name,
          model: {
            id: "scripted-1",
            baseUrl: provider.baseUrl,
            key: keyName,
            contextTokens: 32_000,
            ...(asked.free && { free: true }),
          },
          scaffold,
          ...(asked.turnsMax && { turnsMax: asked.turnsMax }),
          secrets: [keyName],
          prompt,
          ...asked.params,
        },
        files: [prompt],
        secrets: [keyName],
        budget,
        ...attempt,
      }),
      ...asked.stages,
    },
  });
}

export const attemptName = "attempt[task=empty,agent=model,seed=1]";

type Event = { event: string; [field: string]: unknown };

/** The outputs and events of the lab's only record. */
export function recorded({ root, name }: Pick<Lab, "root"> & Partial<Pick<Lab, "name">>) {
  const isOwn = ({ record }: { record: Record<string, unknown> }) =>
    name === undefined || (record.slot as { pipeline: string }).pipeline === name;
  const held = recordsIn(root).filter(isOwn);
  if (held.length !== 1) throw new Error(`${held.length} records, not one`);
  const folder = join(root, ".mlrb/attempts/records", held[0]!.digest);
  const read = (file: string) => readFileSync(join(folder, file), "utf8");
  const ledger = JSON.parse(read("ledger.json")) as Ledger;
  const events = read("trajectory.jsonl")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Event);
  return { folder, record: held[0]!.record, ledger, events, read };
}

/** A provider that plays `script`, closed with the test. */
export async function provider(
  t: { after(end: () => unknown): void },
  script: Script,
): Promise<LoopbackProvider> {
  const started = await startLoopbackProvider({ script });
  t.after(() => started.close());
  return started;
}

let calls = 0;

/** An answer that calls one tool. */
export function tool(name: string, input: Record<string, unknown>, text = "") {
  return { text, toolCalls: [{ id: `call-${++calls}`, name, input }] };
}
export const shell = (command: string) => tool("shell", { command });
export const submit = () => tool("submit", {});
