// Attempts of a shell script at an empty task, by the benchmark's own step: for tests of the sandbox and the
// limits of agents, without the rest of the benchmark.
import type { Lab } from "../lab.ts";

/** The data stage of an empty task. */
export const emptyData = { each: ["task"], command: "echo x > {outputs.public}/a", gives: { public: "dir" } };

const gives = {
  submission: "dir",
  trajectory: { file: "trajectory.jsonl" },
  ledger: { file: "ledger.json" },
  snapshots: "dir",
};

/** An attempt stage with the benchmark's own step. `settings` add to these or replace them. */
export function attemptStage(settings: Record<string, unknown>): Record<string, unknown> {
  return {
    each: ["task", "agent", "seed"],
    role: "attempt",
    script: "pipelines/steps/attempt.ts",
    needs: ["data.public"],
    gives: { ...gives, attachments: "dir" },
    durable: true,
    untrusted: true,
    budget: { time: "60s" },
    ...settings,
  };
}

type Attempted = {
  /** The agent's script, which may use "$MLRB_SUBMISSION". */
  script: string;
  /** Whether the agent is trusted. */
  trusted?: boolean;
  agent?: string;
  seeds?: number[];
  profiles?: Record<string, unknown>;
  /** Axes in addition to task, agent and seed. */
  axes?: Record<string, unknown>;
  /** More settings of the attempt. */
  attempt?: Record<string, unknown>;
  /** Stages in addition to data and attempt. */
  stages?: Record<string, Record<string, unknown>>;
};

/** Defines the lab's pipeline: `data`, `attempt` and later stages. */
export function defineAttempts(at: Lab, { script, trusted = false, ...more }: Attempted): void {
  const { agent = "tries", seeds = [1], axes = {}, profiles, attempt = {}, stages = {} } = more;
  at.script("program/agent.sh", `${script}\n`);
  at.script("prompt.md", "Until {{deadline}}.\n");
  const program = `${at.name}/program`;
  const prompt = `${at.name}/prompt.md`;
  at.define({
    axes: { task: ["empty"], agent: [agent], seed: seeds, ...axes },
    ...(profiles && { profiles }),
    stages: {
      data: emptyData,
      attempt: attemptStage({
        params: { kind: "command", command: ["sh", "./agent.sh"], program, trusted, prompt },
        files: [`${program}/**`, prompt],
        gives, // a script calls no model
        ...attempt,
      }),
      ...stages,
    },
  });
}
