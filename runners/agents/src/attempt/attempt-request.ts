// The request for one attempt, from the stage's step to the supervisor.

import type { Gpu } from "@mlrb/core/ports/gpu";
import type { Sandbox, SnapshotLimits } from "@mlrb/core/ports/sandbox";
import type { AgentPreset } from "@mlrb/formats/declared/agent-preset";
import type { GatewayProvider } from "../gateway/gateway-provider.ts";
import type { DownloadsRequest } from "../hub/downloads-request.ts";
import type { PersonDesk } from "../person/person-desk.ts";
import type { EarlierAttempt } from "../resume/earlier-attempt.ts";
import type { AttemptPurse } from "../spending/attempt-purse.ts";
import type { PriceBook } from "../spending/prices.ts";
import type { TeamRequest } from "../team/team-request.ts";
import type { AttemptWaiting } from "../waiting/waiting.ts";
import type { LlmAgent } from "./llm-agent.ts";

export type CheckScript = {
  /** The text of the script. `python`: of the agent's environment. */
  script(sandbox: Pick<Sandbox, "seenAs">, python: string | undefined): string;
};

export type AttemptRequest = {
  task: string;
  agent: string;
  seed: number | string;
  /** nop runs nothing and submits nothing. */
  kind: AgentPreset["kind"];
  command: string[];
  /** Only for llm. */
  llm?: LlmAgent;
  /** Only for command: the models that its program reaches. */
  gateway?: GatewayProvider[];
  /** Only for team. */
  team?: TeamRequest;
  /** Only for person: a terminal of the person has attached. `pauseMs`: of all pauses together. */
  person?: { desk: PersonDesk; pauseMs: number };
  /** Only for replay: a host folder with trajectory.jsonl and attachments/, or with authored recordings. */
  recording?: string;
  /** Only for replay: whether its tools run again, in their own time. */
  liveTools?: boolean;
  /** Whether programs inside reach a network. */
  network?: boolean;
  /** What programs inside may download through the gateway, which is all that they reach. */
  downloads?: DownloadsRequest;
  /** Host folder of the agent's program, if it has one. */
  program?: string;
  /** Host folder that the program shares with other agents' programs, if there is one. */
  library?: string;
  /** The program by which the agent checks its submission. Without it the workspace has none. */
  check?: CheckScript;
  /** Python of the agent's environment, if it has one. */
  python?: string;
  /** The prompt with its blanks. */
  prompt: string;
  /** A text of others that agents read before the prompt, unchanged: it has no blanks. */
  foreword?: string;
  /** Host folders of files that the agent starts from. Their entries are put into the workspace, and agents may change them. */
  starters?: string[];
  publicData: string;
  /** Processors of the attempt, which its libraries use as threads. Default: one. */
  cpus?: number;
  /** Of the attempt, in its sandbox. */
  memoryBytes?: number;
  /** The memory of each GPU that its programs should use; torch keeps it unless a program lifts it. Default: all. */
  gpuMemoryBytes?: number;
  /** Models that the task provides, a folder each. The agent finds them in models/ if there are any. */
  models?: string;
  /** Whether the two are private copies. Then they are moved to the agent instead of copied again. */
  ownCopies?: boolean;
  /** `timeMs` of working time; tokens and dollars of model calls. */
  budget: { timeMs: number; tokens?: number; dollars?: number };
  /** Default: the prices of the table. */
  prices?: PriceBook;
  /** The cap and prices from the command line of the run that carries the attempt. */
  purse?: Pick<AttemptPurse, "cap" | "onCarried">;
  outputs: {
    submission: string;
    trajectory: string;
    ledger: string;
    snapshots: string;
    /** For texts that are too long for a line of the trajectory. Without it the lines hold them complete. */
    attachments?: string;
    /** A folder for the texts that are left at the end. Without it they are not kept. */
    workspace?: string;
  };
  /** The file in which spending is recorded during the attempt. */
  spending?: string;
  /** The file in which people ask for more budget or write to the agent. */
  interventions?: string;
  /** Called before each call and each line of spending. Does not return once the attempt is another supervisor's. */
  checkClaim?: () => void;
  /** What its earlier supervisor left, if that died or its host did. The sandbox holds the workspace then. */
  earlier?: EarlierAttempt;
  /** Called once the files of a restore point are back and the trajectory says so. */
  restored?(): void;
  /** The host folder for restore points of the sandbox's files; without it there are none. */
  restorePoints?: string;
  /** Minimum working time between two restore points. */
  restorePauseMs?: number;
  /** An empty host folder that the caller removes. */
  scratch: string;
  limits: SnapshotLimits;
  /** The GPUs that the attempt holds; charged from start to end. */
  gpus?: readonly Gpu[];
  /** Whether its programs come from an image, which has its own PATH. */
  ownImage?: boolean;
  /** Aborted with an `Interrupted` when the harness receives a signal to end. */
  interrupted?: AbortSignal;
  /** Used while the attempt waits for a provider or a person. Without it such trouble soon ends the attempt. */
  waits?: AttemptWaiting;
  /** Removes secrets from the agent's output and files. */
  redact?(text: string): string;
  /** Minimum time between two snapshots. */
  pauseMs?: number;
  /** At the deadline, how long to wait for a call that has not begun to answer; see provider-silence. */
  holdMs?: number;
  /** Between two looks at the workspace. */
  pollMs?: number;
};
