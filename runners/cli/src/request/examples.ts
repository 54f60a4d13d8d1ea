// The examples of `COMMAND --help`. Each works in this repository as it is; tests/help.e2e.test.ts checks every one.
import type { Command } from "commander";

type Example = { line: string; does: string };

const examples: Record<string, Example[]> = {
  run: [
    { line: "pnpm pipeline run hello", does: "one task, one agent, one seed" },
    {
      line: "pnpm pipeline run full-benchmark --set agent=nop --set seed=1",
      does: "an agent that the pipeline does not list, one seed",
    },
    {
      line: "pnpm pipeline run full-benchmark --only 'score[scorer=bits-per-byte]'",
      does: "these scores and what they need",
    },
    {
      line: "pnpm pipeline run full-benchmark --fail-fast --jobs 4",
      does: "four CPUs; start nothing after a failure",
    },
    {
      line: 'pnpm pipeline run full-benchmark --accept-stale "only the title changed"',
      does: "use stale attempts; the tables print the reason",
    },
    {
      line: "pnpm pipeline run hello --root /scratch/mlrb",
      does: "keep .mlrb/ and results/ on another disk",
    },
  ],
  watch: [
    { line: "pnpm pipeline watch hello", does: "run, and run again after each edit" },
    {
      line: "pnpm pipeline watch full-benchmark --only 'score[task=baby-lm]' --jobs 2",
      does: "these scores and what they need, while you write a scorer",
    },
  ],
  plan: [
    { line: "pnpm pipeline plan full-benchmark", does: "what would run or be reused, and why" },
    {
      line: "pnpm pipeline plan full-benchmark --only 'attempt[task=baby-lm]' --json",
      does: "part of the plan, as JSON",
    },
  ],
  status: [
    {
      line: "pnpm pipeline status full-benchmark",
      does: "instances by state, what runs now, what to do next",
    },
    {
      line: "pnpm pipeline status full-benchmark --only attempt",
      does: "only the attempts and what they need",
    },
    {
      line: "pnpm pipeline status full-benchmark --json",
      does: "as JSON; the last line is the summary",
    },
  ],
  graph: [
    { line: "pnpm pipeline graph full-benchmark --output pipeline.svg", does: "a drawing of the stages" },
    {
      line: "pnpm pipeline graph full-benchmark --output pipeline.mmd",
      does: "for a page that renders Mermaid",
    },
    {
      line: "pnpm pipeline graph full-benchmark --instances --only 'score[task=baby-lm,seed=1]' --output scores.svg",
      does: "each instance",
    },
  ],
  doctor: [
    {
      line: "pnpm pipeline doctor",
      does: "which profiles of full-benchmark can run here, and what is missing",
    },
    {
      line: "pnpm pipeline doctor hello --root /scratch/mlrb",
      does: "another pipeline, with .mlrb/ on another disk",
    },
  ],
  report: [
    {
      line: "pnpm pipeline report full-benchmark",
      does: "the last tables, and whether they are up to date",
    },
    {
      line: "pnpm pipeline report full-benchmark --open",
      does: "also open the page in the desktop's viewer",
    },
    {
      line: "pnpm pipeline report full-benchmark --groups",
      does: "also scores by subject, paradigm, phenomenon",
    },
    {
      line: "pnpm pipeline report full-benchmark --set agent=nop",
      does: "the report of a run with --set agent=nop",
    },
  ],
  score: [
    {
      line: "pnpm pipeline score ./my-model --task baby-lm",
      does: "validate and score any folder as a submission",
    },
  ],
  check: [
    { line: "pnpm pipeline check", does: "every problem of every YAML file" },
    { line: "pnpm pipeline check tasks/baby-lm/task.yaml", does: "the problems of one file" },
  ],
  list: [
    { line: "pnpm pipeline list", does: "pipelines, tasks, scorers and agents" },
    { line: "pnpm pipeline list scorers --json", does: "one kind, as JSON" },
  ],
  log: [
    { line: "pnpm pipeline log 'attempt[task=baby-lm,seed=1]'", does: "what these wrote when they last ran" },
    { line: "pnpm pipeline log 'score[seed=1]' --tail 50", does: "the last 50 lines of each" },
    {
      line: "pnpm pipeline log 'score[agent=reference]'",
      does: "a pattern of stages and axes; * and ? match",
    },
  ],
  explain: [
    {
      line: "pnpm pipeline explain 'score[task=baby-lm,seed=1]'",
      does: "why they would run: key, changes, stages upstream",
    },
    { line: "pnpm pipeline explain attempt --pipeline hello", does: "stages of another pipeline" },
  ],
  trace: [
    {
      line: "pnpm pipeline trace baby-lm bits-per-byte reference",
      does: "what a cell of the tables was made from, for each seed",
    },
    { line: "pnpm pipeline trace baby-lm bits-per-byte reference 1", does: "for one seed" },
    {
      line: "pnpm pipeline trace 'attempt[task=baby-lm,agent=reference,seed=1]' --json",
      does: "any stage, as JSON",
    },
  ],
  attempts: [
    {
      line: "pnpm pipeline attempts list",
      does: "every record, newest last, then running and lost attempts",
    },
    { line: "pnpm pipeline attempts show 3f2a", does: "what an attempt did, by the beginning of its digest" },
    {
      line: "pnpm pipeline attempts show 'attempt[task=baby-lm,seed=1]'",
      does: "the newest attempt of a stage, also while it runs",
    },
    {
      line: "pnpm pipeline attempts resume",
      does: "pass the keys of this shell to every attempt that waits for you",
    },
    {
      line: "pnpm pipeline attempts stop 'attempt[task=baby-lm,agent=reference,seed=1]'",
      does: "end a running or waiting attempt; quarantine what it made",
    },
    {
      line: "pnpm pipeline attempts adopt",
      does: "make records of lost attempts that had finished",
    },
    {
      line: "pnpm pipeline attempts verify",
      does: "read every byte of every record; repair damaged files from the cache",
    },
    {
      line: "pnpm pipeline attempts export ../records",
      does: "copy records for another machine, which imports them",
    },
    {
      line: "pnpm pipeline attempts export ../records --sign ~/.ssh/id_ed25519",
      does: "the same, signed with an SSH key",
    },
    {
      line: "pnpm pipeline attempts import ../records --require-signed",
      does: "add records that one of your allowed signers exported",
    },
    {
      line: "pnpm pipeline attempts use 3f2a",
      does: "choose between an imported record and its competitors",
    },
    {
      line: "pnpm pipeline attempts export 3f2a --format inspect --output log.json",
      does: "one attempt as a log for `inspect view`; atif is the other format",
    },
    {
      line: "pnpm pipeline attempts export full-benchmark --format inspect --output logs/",
      does: "all attempts of a run as one log that `inspect view` lists",
    },
  ],
  cache: [
    { line: "pnpm pipeline cache stats", does: "how many contents and results there are" },
    {
      line: "pnpm pipeline cache verify",
      does: "read every content; replace damaged ones from attempt records, or remove them",
    },
    { line: "pnpm pipeline cache gc", does: "remove what neither a last run nor an attempt uses" },
  ],
  completion: [
    {
      line: "pnpm pipeline completion bash",
      does: "its first lines say where to put it; also zsh and fish",
    },
    { line: "pnpm pipeline completion zsh", does: "with pnpm --silent, without pnpm's own output" },
  ],
};

/** Prints each command's examples below its options. */
export function addExamples(program: Command): void {
  for (const command of program.commands) {
    const own = examples[command.name()];
    if (own) command.addHelpText("after", () => exampleText(own));
  }
}

function exampleText(own: Example[]): string {
  const lines = own.map(({ line, does }) => `  ${line}\n      ${does}`);
  return `\nExamples:\n${lines.join("\n")}`;
}
