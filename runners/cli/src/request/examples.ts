// The examples of `COMMAND --help`. Each works in this repository as it is; tests/help.e2e.test.ts checks every one.
import type { Command } from "commander";

/** By command: lines to type, and what they do. */
const examples: Record<string, [line: string, does: string][]> = {
  run: [
    ["pnpm pipeline run hello", "one task, one agent, one seed"],
    [
      "pnpm pipeline run full-benchmark --set agent=nop --set seed=1",
      "an agent that the pipeline does not list, one seed",
    ],
    [
      "pnpm pipeline run full-benchmark --only 'score[scorer=bits-per-byte]'",
      "these scores and what they need",
    ],
    ["pnpm pipeline run full-benchmark --fail-fast --jobs 4", "four CPUs; start nothing after a failure"],
    [
      'pnpm pipeline run full-benchmark --accept-stale "only the title changed"',
      "use stale attempts; the tables print the reason",
    ],
    ["pnpm pipeline run hello --root /scratch/mlrb", "keep .mlrb/ and results/ on another disk"],
  ],
  watch: [
    ["pnpm pipeline watch hello", "run, and run again after each edit"],
    [
      "pnpm pipeline watch full-benchmark --only 'score[task=baby-lm]' --jobs 2",
      "these scores and what they need, while you write a scorer",
    ],
  ],
  plan: [
    ["pnpm pipeline plan full-benchmark", "what would run, and why; --all lists each instance"],
    ["pnpm pipeline plan full-benchmark --only 'attempt[task=baby-lm]' --json", "part of the plan, as JSON"],
  ],
  status: [
    ["pnpm pipeline status full-benchmark", "instances by state, what runs now, what to do next"],
    ["pnpm pipeline status full-benchmark --only attempt", "only the attempts and what they need"],
    ["pnpm pipeline status full-benchmark --json", "as JSON; the last line is the summary"],
  ],
  graph: [
    ["pnpm pipeline graph full-benchmark --output pipeline.svg", "a drawing of the stages"],
    ["pnpm pipeline graph full-benchmark --output pipeline.mmd", "for a page that renders Mermaid"],
    [
      "pnpm pipeline graph full-benchmark --instances --only 'score[task=baby-lm,seed=1]' --output scores.svg",
      "each instance",
    ],
  ],
  doctor: [
    ["pnpm pipeline doctor", "which profiles of full-benchmark can run here, and what is missing"],
    [
      "pnpm pipeline doctor --profile paper --set task=baby-lm",
      "what this machine lacks for one profile, with these values",
    ],
    ["pnpm pipeline doctor --models gpt-4o,claude-3-5-sonnet", "whether the models of these agents answer"],
    [
      "pnpm pipeline doctor --profile paper --models --max-cost 1",
      "also whether the models of its agents call tools, for at most a dollar",
    ],
    ["pnpm pipeline doctor hello --root /scratch/mlrb", "another pipeline, with .mlrb/ on another disk"],
  ],
  report: [
    ["pnpm pipeline report full-benchmark", "the last tables, and whether they are up to date"],
    ["pnpm pipeline report full-benchmark --open", "also open the page in the desktop's viewer"],
    ["pnpm pipeline report full-benchmark --groups", "also scores by subject, paradigm, phenomenon"],
    ["pnpm pipeline report full-benchmark --dataset FOLDER", "write a data set for Hugging Face's datasets"],
    [
      "pnpm pipeline report full-benchmark --against OTHER/results/full-benchmark/smoke",
      "what differs from other results, cell by cell, and why",
    ],
    [
      "pnpm pipeline report full-benchmark --bundle evidence.zip",
      "write an archive from which others rebuild the report",
    ],
    ["pnpm pipeline report --from evidence.zip", "rebuild the report elsewhere, offline"],
    ["pnpm pipeline report full-benchmark --set agent=nop", "the report of a run with --set agent=nop"],
  ],
  protocol: [
    ["pnpm pipeline protocol freeze full-benchmark --profile paper", "before the first attempt"],
    ["pnpm pipeline protocol show full-benchmark --profile paper", "what was frozen"],
  ],
  score: [
    ["pnpm pipeline score ./my-model --task baby-lm", "validate and score any folder as a submission"],
    [
      "pnpm pipeline score RECORD/submission --task baby-lm --expect report.json",
      "whether published scores are measured again",
    ],
  ],
  check: [
    ["pnpm pipeline check", "every problem of every YAML file"],
    ["pnpm pipeline check tasks/baby-lm/task.yaml", "the problems of one file"],
  ],
  list: [
    ["pnpm pipeline list", "pipelines, tasks, scorers and agents"],
    ["pnpm pipeline list scorers --json", "one kind, as JSON"],
  ],
  log: [
    ["pnpm pipeline log 'attempt[task=baby-lm,seed=1]'", "what these wrote when they last ran"],
    ["pnpm pipeline log 'score[seed=1]' --tail 50", "the last 50 lines of each"],
    ["pnpm pipeline log 'score[agent=reference]'", "a pattern of stages and axes; * and ? match"],
  ],
  explain: [
    [
      "pnpm pipeline explain 'score[task=baby-lm,seed=1]'",
      "why they would run: key, changes, stages upstream",
    ],
    ["pnpm pipeline explain attempt --pipeline hello --all", "another pipeline; with the parts of each key"],
  ],
  trace: [
    [
      "pnpm pipeline trace baby-lm bits-per-byte reference",
      "what a cell of the tables was made from, for each seed",
    ],
    [
      "pnpm pipeline trace baby-lm bits-per-byte reference 1 --all",
      "for one seed, with every digest and log",
    ],
    ["pnpm pipeline trace 'attempt[task=baby-lm,agent=reference,seed=1]' --json", "any stage, as JSON"],
  ],
  diagnose: [
    ["pnpm pipeline diagnose full-benchmark --profile shakedown", "an archive in .mlrb/diagnostics/"],
    ["pnpm pipeline diagnose full-benchmark --output ../bundle.tar.gz", "of the default profile, elsewhere"],
  ],
  attempts: [
    ["pnpm pipeline attempts list", "every record, newest last, then running and lost attempts"],
    [
      "pnpm pipeline attempts list 'attempt[task=baby-lm]' --state lost",
      "lost ones of a task, with cost and cause",
    ],
    ["pnpm pipeline attempts show 3f2a", "what an attempt did, by the beginning of its digest"],
    [
      "pnpm pipeline attempts show 'attempt[task=baby-lm,seed=1]'",
      "the newest attempt of a stage, also while it runs",
    ],
    [
      "pnpm pipeline attempts resume",
      "continue every attempt that waits for you, with the keys of this shell",
    ],
    [
      "pnpm pipeline attempts watch",
      "what the agent of the running attempt does, its spending and the time left",
    ],
    ["pnpm pipeline attempts score 3f2a", "scores of what an attempt would submit now, or has submitted"],
    ["pnpm pipeline attempts pause", "let the running attempt stop before its next model call"],
    ["pnpm pipeline attempts extend 3f2a --hours 2", "two hours more; the attempt leaves the primary tables"],
    [
      "pnpm pipeline attempts stop 'attempt[task=baby-lm,agent=reference,seed=1]'",
      "end a running or waiting attempt; quarantine what it made",
    ],
    ["pnpm pipeline attempts adopt", "make records of lost attempts that had finished"],
    ["pnpm pipeline attempts verify", "read every byte of every record; repair damaged files from the cache"],
    [
      "pnpm pipeline attempts thin --dry-run",
      "what removing snapshots of scored attempts would free, and what could not run again",
    ],
    [
      "pnpm pipeline attempts thin 3f2a --keep none",
      "remove the weights of one attempt, also its submission's",
    ],
    ["pnpm pipeline attempts export ../records", "copy records for another machine, which imports them"],
    ["pnpm pipeline attempts export ../records --sign ~/.ssh/id_ed25519", "the same, signed with an SSH key"],
    [
      "pnpm pipeline attempts import ../records --require-signed",
      "add records that one of your allowed signers exported",
    ],
    [
      'pnpm pipeline attempts adjudicate 3f2a --rule from-scratch --verdict pass --by "A. Lee" --reason "see notes/3f2a.md"',
      "decide a rule; only the report runs again",
    ],
    ["pnpm pipeline attempts use 3f2a", "choose between an imported record and its competitors"],
    [
      "pnpm pipeline attempts export 3f2a --format inspect --output log.json",
      "one attempt as a log for `inspect view`; atif is the other format",
    ],
    [
      "pnpm pipeline attempts export full-benchmark --format inspect --output logs/",
      "all attempts of a run as one log that `inspect view` lists",
    ],
  ],
  cache: [
    ["pnpm pipeline cache stats", "how many contents and results there are"],
    [
      "pnpm pipeline cache verify",
      "read every content; replace damaged ones from attempt records, or remove them",
    ],
    ["pnpm pipeline cache gc", "remove what neither a last run nor an attempt uses"],
  ],
  fingerprints: [
    [
      "pnpm pipeline fingerprints make HuggingFaceTB/SmolLM2-360M --licence Apache-2.0",
      "of a model on a hub, read one tensor at a time; HF_TOKEN opens closed ones",
    ],
    [
      'pnpm pipeline fingerprints make ../bert --licence Apache-2.0 --source "bert-base-uncased, 2019"',
      "of a folder of safetensors",
    ],
  ],
  sources: [
    [
      "pnpm pipeline sources list",
      "each source of official data, whether it is locked, its size and licence",
    ],
    ["pnpm pipeline sources lock", "resolve all that are not locked; HF_TOKEN opens gated ones"],
    ["pnpm pipeline sources lock mmlu --update", "resolve one again, and show what moved"],
    ["pnpm pipeline sources verify", "compare the lock with the hub; status 1 if anything differs"],
    ["pnpm pipeline sources accept mmlu blimp", "read and accept licences, before a run downloads anything"],
  ],
  completion: [
    ["pnpm pipeline completion bash", "its first lines say where to put it; also zsh and fish"],
    ["pnpm pipeline completion zsh", "with pnpm --silent, without pnpm's own output"],
  ],
};

/** Prints each command's examples below its options. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const lines = examples[command.name()]?.map(([line, does]) => `  ${line}\n      ${does}`);
    if (lines) command.addHelpText("after", `\nExamples:\n${lines.join("\n")}`);
  }
}
