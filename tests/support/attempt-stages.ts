// Attempts of a shell script at an empty task, by the step that the benchmark uses: for tests of what holds an
// agent's programs, with nothing of the benchmark around it.
import type { Lab } from "./lab.ts";

/** The data of a task in which there is nothing. */
export const emptyData = { each: ["task"], command: "echo x > {outputs.public}/a", gives: { public: "dir" } };

const gives = {
  submission: "dir",
  trajectory: { file: "trajectory.jsonl" },
  ledger: { file: "ledger.json" },
  snapshots: "dir",
};

/** An attempt by the step that the benchmark uses, with `settings` besides or in place of these. */
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
  /** What the agent does; it may use "$MLRB_SUBMISSION". */
  script: string;
  /** Whether a person vouched for it. */
  trusted?: boolean;
  agent?: string;
  seeds?: number[];
  /** Axes besides task, agent and seed. */
  axes?: Record<string, unknown>;
  /** Settings of the attempt besides its own. */
  attempt?: Record<string, unknown>;
  /** Stages besides the data's and the attempt's. */
  stages?: Record<string, Record<string, unknown>>;
};

/** Defines the lab's pipeline: `data`, `attempt` and whatever comes after. */
export function defineAttempts(at: Lab, { script, trusted = false, ...more }: Attempted): void {
  const { agent = "tries", seeds = [1], axes = {}, attempt = {}, stages = {} } = more;
  at.script("program/agent.sh", `${script}\n`);
  at.script("prompt.md", "Until {{deadline}}.\n");
  const program = `${at.name}/program`;
  const prompt = `${at.name}/prompt.md`;
  at.define({
    axes: { task: ["empty"], agent: [agent], seed: seeds, ...axes },
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
