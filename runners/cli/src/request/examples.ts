// What `COMMAND --help` teaches by: commands that do something with this repository as it is, with what they
// are for. A test reads every one of them.
import type { Command } from "commander";

type Example = { line: string; does: string };

const examples: Record<string, Example[]> = {
  run: [
    { line: "pnpm pipeline run hello", does: "one task, one agent, one seed" },
    {
      line: "pnpm pipeline run full-benchmark --set agent=nop --set seed=1",
      does: "another agent than the pipeline lists, one seed",
    },
    {
      line: "pnpm pipeline run full-benchmark --only 'score[scorer=bits-per-byte]'",
      does: "these scores, and what they need",
    },
    {
      line: "pnpm pipeline run full-benchmark --fail-fast --jobs 4",
      does: "four CPUs; nothing new after a failure",
    },
    {
      line: 'pnpm pipeline run full-benchmark --accept-stale "only the title changed"',
      does: "use stale attempts; the tables say why",
    },
    {
      line: "pnpm pipeline run hello --root /scratch/mlrb",
      does: "keep .mlrb/ and results/ on another disk",
    },
  ],
  watch: [
    { line: "pnpm pipeline watch hello", does: "run it, and again whenever one of its files is edited" },
    {
      line: "pnpm pipeline watch full-benchmark --only 'score[task=baby-lm]' --jobs 2",
      does: "these scores, and what they need, while a scorer is being written",
    },
  ],
  plan: [
    { line: "pnpm pipeline plan full-benchmark", does: "what would run or be reused, and why" },
    {
      line: "pnpm pipeline plan full-benchmark --only 'attempt[task=baby-lm]' --json",
      does: "a part of it, for programs",
    },
  ],
  status: [
    {
      line: "pnpm pipeline status full-benchmark",
      does: "instances by state, what runs now, what to do next",
    },
    {
      line: "pnpm pipeline status full-benchmark --only attempt",
      does: "only the attempts, and what they need",
    },
    {
      line: "pnpm pipeline status full-benchmark --json",
      does: "the same for programs: the last line is the summary",
    },
  ],
  graph: [
    { line: "pnpm pipeline graph full-benchmark --output pipeline.svg", does: "the stages, drawn" },
    {
      line: "pnpm pipeline graph full-benchmark --output pipeline.mmd",
      does: "for a page that draws Mermaid",
    },
    {
      line: "pnpm pipeline graph full-benchmark --instances --only 'score[task=baby-lm,seed=1]' --output scores.svg",
      does: "instances one by one",
    },
  ],
  doctor: [
    {
      line: "pnpm pipeline doctor",
      does: "whether full-benchmark can run here, in which profiles, and what is missing",
    },
    {
      line: "pnpm pipeline doctor hello --root /scratch/mlrb",
      does: "another pipeline, with its state on another disk",
    },
  ],
  report: [
    {
      line: "pnpm pipeline report full-benchmark",
      does: "the tables again, and whether the plan has moved on",
    },
    { line: "pnpm pipeline report full-benchmark --open", does: "also in the desktop's viewer" },
    { line: "pnpm pipeline report full-benchmark --groups", does: "also by subject, paradigm, phenomenon" },
    { line: "pnpm pipeline report full-benchmark --set agent=nop", does: "the report of a narrowed run" },
  ],
  score: [
    {
      line: "pnpm pipeline score ./my-model --task baby-lm",
      does: "any folder, judged and scored as a submission",
    },
  ],
  check: [
    { line: "pnpm pipeline check", does: "every problem of every YAML file" },
    { line: "pnpm pipeline check tasks/baby-lm/task.yaml", does: "of one" },
  ],
  list: [
    { line: "pnpm pipeline list", does: "pipelines, tasks, scorers and agents" },
    { line: "pnpm pipeline list scorers --json", does: "one kind, for programs" },
  ],
  log: [
    { line: "pnpm pipeline log 'attempt[task=baby-lm,seed=1]'", does: "what these last said" },
    { line: "pnpm pipeline log 'score[seed=1]' --tail 50", does: "the last 50 lines of each" },
    {
      line: "pnpm pipeline log 'score[agent=reference]'",
      does: "any pattern will do: stages and axes, with * and ?",
    },
  ],
  explain: [
    {
      line: "pnpm pipeline explain 'score[task=baby-lm,seed=1]'",
      does: "why they would run: key, changes, the chain upstream",
    },
    { line: "pnpm pipeline explain attempt --pipeline hello", does: "of another pipeline" },
  ],
  trace: [
    {
      line: "pnpm pipeline trace baby-lm bits-per-byte reference",
      does: "what stands behind a cell of the tables, for each of its seeds",
    },
    { line: "pnpm pipeline trace baby-lm bits-per-byte reference 1", does: "of one seed" },
    {
      line: "pnpm pipeline trace 'attempt[task=baby-lm,agent=reference,seed=1]' --json",
      does: "of any stage, for programs",
    },
  ],
  attempts: [
    { line: "pnpm pipeline attempts list", does: "every record, newest last" },
    { line: "pnpm pipeline attempts show 3f2a", does: "one's story, by the beginning of its digest" },
    {
      line: "pnpm pipeline attempts show 'attempt[task=baby-lm,seed=1]'",
      does: "the newest of a stage, also while it goes on",
    },
    {
      line: "pnpm pipeline attempts resume",
      does: "give every attempt that waits for you the keys that are set here, and try again",
    },
    {
      line: "pnpm pipeline attempts stop 'attempt[task=baby-lm,agent=reference,seed=1]'",
      does: "end one that goes on, or give up one that waits; all of it is quarantined",
    },
    {
      line: "pnpm pipeline attempts adopt",
      does: "make records of lost attempts that had come to their end",
    },
    {
      line: "pnpm pipeline attempts verify",
      does: "read every byte of every record; repair what is damaged from the cache",
    },
    {
      line: "pnpm pipeline attempts export ../records",
      does: "copies for another machine, which imports them",
    },
    {
      line: "pnpm pipeline attempts export 3f2a --format inspect --output log.json",
      does: "one as a log that `inspect view` shows; atif is the other format",
    },
    {
      line: "pnpm pipeline attempts export full-benchmark --format inspect --output logs/",
      does: "all attempts of a run as one log, under a name that `inspect view` lists",
    },
  ],
  cache: [
    { line: "pnpm pipeline cache stats", does: "how much there is" },
    {
      line: "pnpm pipeline cache verify",
      does: "read every content; replace what is damaged from attempt records, or remove it",
    },
    { line: "pnpm pipeline cache gc", does: "free what no last run and no attempt uses" },
  ],
  completion: [
    {
      line: "pnpm pipeline completion bash",
      does: "its first lines say where it goes; zsh and fish likewise",
    },
    { line: "pnpm pipeline completion zsh", does: "pnpm --silent keeps pnpm's own words out of it" },
  ],
};

/** Shows each command's examples below its options. */
export function teachByExamples(program: Command): void {
  for (const command of program.commands) {
    const own = examples[command.name()];
    if (own) command.addHelpText("after", () => exampleText(own));
  }
}

function exampleText(own: Example[]): string {
  const lines = own.map(({ line, does }) => `  ${line}\n      ${does}`);
  return `\nExamples:\n${lines.join("\n")}`;
}
