// The scaffolds that a preset may name.
import type { ScaffoldSpec } from "@mlrb/formats/declared/agent-preset";
import { chosenTools } from "./chosen-tools.ts";
import { converseAlone, sharedOf } from "./converse.ts";
import { mlrb2024 } from "./mlrb-2024.ts";
import { agentPrompt, agentTask } from "./prompts.ts";
import type { Scaffold } from "./scaffold.ts";
import { supervisorWorker } from "./supervisor-worker.ts";
import { submit } from "./tools/submit.ts";

/**
 * The single loop: one model, one conversation, all tools (Yao et al. 2022, arXiv 2210.03629: reasoning and acting in
 * turns).
 */
const react: Scaffold = async (request) => {
  const tools = [...chosenTools({ ...request.spec, ...request }), submit];
  const facts = { network: request.network, tools: tools.map(({ spec }) => spec.name), leads: false };
  return await converseAlone(sharedOf(request), {
    by: "agent",
    system: agentPrompt(facts),
    task: agentTask(request.prompt),
    tools,
  });
};

export const scaffolds: Record<ScaffoldSpec["kind"], Scaffold> = {
  react,
  "supervisor-worker": supervisorWorker,
  "mlrb-2024": mlrb2024,
};
