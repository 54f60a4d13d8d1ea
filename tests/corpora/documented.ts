// What becomes of honest folders that are not simply scored, and of cheats that are, each with the reason. docs/rules.md
// and docs/bring-an-agent.md explain them to users.
import type { Fate } from "./judge-corpora.ts";

export const documented: Record<string, { fate: Fate; reason: string }> = {};
