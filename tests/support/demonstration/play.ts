// Plays the demonstration: a preset that calls a provider on 127.0.0.1, and one attempt with it, from the task's
// data to its scores.
import { join } from "node:path";
import { recordsIn } from "../end-state.ts";
import { LOOPBACK_KEY, startLoopbackProvider } from "../providers/loopback-provider.ts";
import { type ProgramOutput, startProgram } from "../run-program.ts";
import type { Repository } from "../throw-away-repository.ts";
import { conversation } from "./conversation.ts";

const demonstrationTask = "baby-lm";
const demonstrationArgs = ["--set", `task=${demonstrationTask}`, "--set", "seed=1", "--json"];

/** `folder`: the attempt's record; undefined where there is none. */
export async function playDemonstration(
  repository: Pick<Repository, "path" | "write">,
  root: string,
): Promise<{ said: ProgramOutput; folder: string | undefined; seen: number }> {
  const provider = await startLoopbackProvider({ script: conversation });
  try {
    repository.write("runners/agents/presets/scripted-model.yaml", preset(provider.baseUrl));
    const args = ["run", "full-benchmark", "--set", "agent=scripted-model", "--yes", ...demonstrationArgs];
    const env = { ...indexVariables(), LOOPBACK_API_KEY: LOOPBACK_KEY };
    const said = await startProgram(repository.path, [...args, "--root", root], { env }).ended;
    const held = recordsIn(root).find(({ record }) => /agent=scripted-model/.test(stageOf(record)));
    return {
      said,
      folder: held && join(root, ".mlrb/attempts/records", held.digest),
      seen: provider.seen.length,
    };
  } finally {
    await provider.close();
  }
}

function preset(baseUrl: string): string {
  return `formatVersion: 1
name: scripted-model
title: A scripted model (loopback)
kind: llm
provider: loopback
model: { id: scripted-1, baseUrl: "${baseUrl}", key: LOOPBACK_API_KEY, contextTokens: 64000, free: true }
scaffold: react
scaffoldVersion: 1
secrets: [LOOPBACK_API_KEY]
environment: pipelines/environments/ml.lock
`;
}

/** The stage instance of a record. */
export function stageOf(record: { slot?: unknown }): string {
  return (record.slot as { stage: string }).stage;
}

/** Variables with which an environment's build reaches the package index, as for the user. */
export function indexVariables(): Record<string, string> {
  const wanted = /^(PIP_|SSL_|REQUESTS_|CURL_CA)|_proxy$/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => wanted.test(name))) as Record<
    string,
    string
  >;
}
