// What members read after the prompt, and the part of the machine that each has. Every word is part of the
// measurement: a change needs a new version in scaffold-versions.
import { gpuVariables } from "@mlrb/core/ports/gpu";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { AttemptRequest } from "../attempt/attempt-request.ts";
import { inside } from "../attempt/workspace.ts";
import { memberVariable } from "./member-waits.ts";
import { boardLimits } from "./message-board.ts";
import type { TeamRequest } from "./team-request.ts";

/** `name`: whose text it is; undefined for the file that programs in one workspace share. */
export function teamText({ members, workspace, resources }: TeamRequest, name: string | undefined): string {
  const others = members.map(
    ({ name, role, after }) =>
      `- ${name}${after.length > 0 ? ` (starts after ${after.join(", ")})` : ""}: ${role ?? "no role of its own"}`,
  );
  const who = name === undefined ? `the member that the variable ${memberVariable} names` : name;
  const places =
    workspace === "own"
      ? `Each member works in a folder of its own, the workspace's folder of its name, where data, models and submission are links to the common ones. shared/ in the workspace (MLRB_SHARED) is for files of all.`
      : "All work in the same workspace: agree who writes which files.";
  return `
---

You are ${who}, in a team of ${members.length} that works on this task together, in one sandbox. The members:

${others.join("\n")}

The submission is one, and so is the budget of time, tokens and money: what one uses is gone for all. ${places} ${
    resources === "divided"
      ? "Each has an equal part of the processors, the memory and the GPUs; keep to yours."
      : "Processors, memory and GPUs are shared: agree who uses what when."
  }

Members write to each other on a message board. A model has the tools send_message and read_messages. A program writes
a file outbox/NAME/ANY.json in the folder MLRB_BOARD, NAME being its own name, with {"to": NAME or "all",
"purpose": "message" or "hand-over", "text": TEXT}, under another name first and then renamed; messages to it lie in
inbox/NAME/, as 000001.json and so on. A text may have ${boardLimits.messageBytes} bytes. A hand-over tells members that start after
you to start. Your own end (submit, or the end of your program) ends your work, not that of the others: the attempt
ends when all have ended, or at the deadline.
`;
}

/** From the sandbox's root. */
export function memberFolder({ workspace }: TeamRequest, name: string): string {
  return workspace === "own" ? `${inside.workspace}/${name}` : inside.workspace;
}

export function memberEnvironment(
  sandbox: Pick<Sandbox, "seenAs">,
  team: TeamRequest,
  { name, part }: { name: string; part: MemberPart },
): Record<string, string> {
  const { gpus, memoryBytes } = part;
  return {
    [memberVariable]: name,
    MLRB_BOARD: sandbox.seenAs(inside.board),
    MLRB_SHARED: sandbox.seenAs(memberFolder(team, "shared")),
    ...(memoryBytes !== undefined && { MLRB_MEMORY_BYTES: String(memoryBytes) }),
    ...(gpus && gpus.length > 0 && { ...gpuVariables(gpus), CUDA_DEVICE_ORDER: "PCI_BUS_ID" }),
  };
}

export type MemberPart = Pick<AttemptRequest, "cpus" | "gpus"> & { memoryBytes?: number };

/**
 * The part of the machine of member number `at`; empty where all is shared. Variables tell it: nothing keeps a member
 * from using more than its part of the processors, the memory or the GPUs. Where there are fewer GPUs than members,
 * some share one.
 */
export function memberPart(
  { team, cpus = 1, gpus = [], memoryBytes }: Pick<AttemptRequest, "team" | "cpus" | "gpus" | "memoryBytes">,
  at: number,
): MemberPart {
  const { members, resources } = team!;
  const count = members.length;
  if (resources === "shared") return {};
  const own = gpus.slice(
    Math.floor((at * gpus.length) / count),
    Math.floor(((at + 1) * gpus.length) / count),
  );
  return {
    cpus: Math.max(1, Math.floor(cpus / count)),
    ...(gpus.length > 0 && { gpus: gpus.length < count ? [gpus[at % gpus.length]!] : own }),
    ...(memoryBytes !== undefined && { memoryBytes: Math.floor(memoryBytes / count) }),
  };
}
