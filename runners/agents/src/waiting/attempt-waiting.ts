// What an attempt uses while it waits: the board that shows the reason, the desk where a person reaches it, and
// the update of keys that the person sends.
import { basename, join, resolve } from "node:path";
import { resumeCommand, waitFile, waitText } from "@mlrb/core/ports/attempt-wait";
import { relayVariable } from "@mlrb/core/ports/relay";

import type { LlmAgent, SecretRedactor } from "../attempt/llm-agent.ts";
import type { GatewayProvider } from "../gateway/gateway-provider.ts";
import { operatorDesk } from "./operator-desk.ts";
import { type Patience, patience } from "./patience.ts";
import { waitBoard } from "./wait-board.ts";
import type { AttemptWaiting } from "./waiting.ts";

export type WaitingRequest = {
  /** The attempt's, under `.mlrb/attempts/running`. */
  folder: string;
  /** Where `pnpm pipeline` runs. A command names the root if it differs from this. */
  repository: string;
  /** Names of the attempt's secrets. */
  secrets: string[];
  redactor: SecretRedactor;
  /** Their keys may be replaced. */
  llms: readonly LlmAgent[];
  providers: GatewayProvider[];
  patience?: Partial<Patience>;
  /** Writes a line to the stage's log. */
  say(line: string): void;
};

export function attemptWaiting(request: WaitingRequest): AttemptWaiting {
  const { folder, repository, secrets, redactor, llms, providers } = request;
  const root = resolve(folder, "../../../..");
  const resume = resumeCommand(basename(folder), root === resolve(repository) ? undefined : root);
  return {
    patience: { ...patience, ...request.patience },
    board: waitBoard({
      file: join(folder, waitFile),
      say: request.say,
      words: (wait) => waitText(wait, { now: Date.now(), resume }),
      redact: redactor.redact,
    }),
    desk: operatorDesk({
      folder,
      secrets,
      remote: process.env[relayVariable] !== undefined,
      take(values) {
        redactor.add(values); // before anything can print one
        for (const llm of llms) {
          if (llm.model.key !== undefined) llm.key = values[llm.model.key] ?? llm.key!;
          const planner = llm.scaffold.planner?.key;
          if (planner !== undefined) llm.plannerKey = values[planner] ?? llm.plannerKey!;
        }
        for (const provider of providers)
          if (provider.keyName !== undefined) provider.key = values[provider.keyName] ?? provider.key!;
      },
    }),
  };
}
