// The commands that run a pipeline, and those that only read what its runs left.
import {
  all,
  jobs,
  ofPipeline,
  option,
  pipelineWords,
  place,
  prices,
  profile,
  selection,
  set,
  stalePolicy,
} from "./command-options.ts";
import type { CommandRow } from "./command-table.ts";
import { remoteModes } from "./request/run-invocation.ts";

const start = [
  ...selection,
  ...stalePolicy,
  jobs,
  option("--fail-fast", "after a failure, start no other stage"),
  option("--max-gpu-hours <n>", "GPU hours that new attempts may be expected to take (default: 0)"),
  ...prices({
    maxCost:
      "dollars that new attempts may be expected to cost (default: 0); if given, also the most that they may spend together",
    price: "price of a model that runners/agents/prices.yaml lacks, in dollars per million tokens",
  }),
  option("--take-over", "restart attempts leased by a host that is down"),
  option("--unsafe-local", "run untrusted agents as plain processes: they can do whatever you can"),
  option(
    "--weak-limits",
    "run untrusted agents in bubblewrap though this user may make no control group: their memory limit is only polled",
  ),
  option(
    "--remote-cache <mode>",
    "the server of MLRB_REMOTE_CACHE: take results, also send them, or neither (default: read-write with MLRB_REMOTE_CACHE_KEY, else read; docs/machines.md)",
  ).choices([...remoteModes]),
  option(
    "--on-event <command>",
    "a shell command that gets a JSON object on its standard input when an attempt waits or ends, a stage fails or the run ends",
  ),
  option("--yes", "start new attempts without a limit on their expected cost"),
];

export const pipelineCommands: CommandRow[] = [
  {
    name: "run <pipeline>",
    does: "run what changed, print the main table; `report` prints the rest",
    options: [...start],
    examples: `
      pnpm pipeline run hello # one task, one agent, one seed
      pnpm pipeline run full-benchmark --set agent=nop --set seed=1 # an agent that the pipeline does not list, one seed
      pnpm pipeline run full-benchmark --only 'score[scorer=bits-per-byte]' # these scores and what they need
      pnpm pipeline run full-benchmark --fail-fast --jobs 4 # four CPUs; start nothing after a failure
      pnpm pipeline run full-benchmark --accept-stale "only the title changed" # use stale attempts; the tables print the reason
      pnpm pipeline run hello --root /scratch/mlrb # keep .mlrb/ and results/ on another disk`,
    load: async () => (await import("./commands/run-command.ts")).runCommand,
  },
  {
    name: "watch <pipeline>",
    does: "run, and run again after each edit of a file that the plan depends on",
    options: start,
    examples: `
      pnpm pipeline watch hello # run, and run again after each edit
      pnpm pipeline watch full-benchmark --only 'score[task=baby-lm]' --jobs 2 # these scores, while you write a scorer`,
    load: async () => (await import("./commands/watch-command.ts")).watchCommand,
  },
  {
    name: "plan <pipeline>",
    does: "show what would run or be reused, and why; runs nothing",
    options: [
      ...selection,
      ...stalePolicy,
      all("list each stage instance with its reasons, instead of counts"),
      ...prices({
        maxCost: "as for `run`: what attempts may spend together",
        price: "as for `run`: price of a model",
      }),
    ],
    examples: `
      pnpm pipeline plan full-benchmark # what would run, and why; --all lists each instance
      pnpm pipeline plan full-benchmark --only 'attempt[task=baby-lm]' --json # part of the plan, as JSON`,
    load: async () => (await import("./commands/plan-command.ts")).planCommand,
  },
  {
    name: "score <folder>",
    does: "validate and score a folder as a submission, next to trivial baselines and reference models",
    takes: "folder to score, as an agent would submit it",
    options: [
      option("--task <name>", "task of the submission").makeOptionMandatory(),
      option("--pipeline <name>", "pipeline whose stages validate and score").default("full-benchmark"),
      option(
        "--expect <report.json>",
        "print each score next to the one of the same files in this report; status 1 if one differs",
      ),
      profile,
      jobs,
      ...place,
    ],
    examples: `
      pnpm pipeline score ./my-model --task baby-lm # validate and score any folder as a submission
      pnpm pipeline score RECORD/submission --task baby-lm --expect report.json # whether published scores are measured again`,
    load: async () => (await import("./commands/score-command.ts")).scoreCommand,
  },
  {
    name: "status <pipeline>",
    does: "show progress: instances by state, what runs now, what failed, what to do next",
    options: [...selection, all("count each stage, instead of groups such as the checks")],
    examples: `
      pnpm pipeline status full-benchmark # instances by state, what runs now, what to do next
      pnpm pipeline status full-benchmark --only attempt # only the attempts and what they need
      pnpm pipeline status full-benchmark --json # as JSON; the last line is the summary`,
    load: async () => (await import("./commands/status-command.ts")).statusCommand,
  },
  {
    name: "graph <pipeline>",
    does: "draw the stages, the artifacts between them, and their state",
    options: [
      ...selection,
      all("draw each stage, instead of groups such as the checks"),
      option("--instances", "draw each stage instance; --only and --set select them"),
      option("--output <file>", "an .svg, or a .dot for Graphviz (default: .dot to stdout)"),
    ],
    examples: `
      pnpm pipeline graph full-benchmark --output pipeline.svg # a drawing of the stages
      pnpm pipeline graph full-benchmark --output pipeline.dot # for Graphviz
      pnpm pipeline graph full-benchmark --instances --only 'score[task=baby-lm,seed=1]' --output scores.svg # each instance`,
    load: async () => (await import("./commands/graph-command.ts")).graphCommand,
  },
  {
    name: "report [pipeline]",
    does: "print every table of the last results, and whether they are up to date",
    takes: `${pipelineWords}; none with --from`,
    options: [
      profile,
      set("the report of a run with the same --set"),
      option("--groups", "also print scores by group: subject, paradigm, phenomenon"),
      option(
        "--against <what>",
        "print instead what differs from an earlier run, a folder of results or a report.json, cell by cell, and why",
      ),
      option("--markdown", "with --against: as Markdown"),
      option("--dataset <folder>", "write the results as a Hugging Face data set instead"),
      option("--bundle <file>", "write the evidence as one archive, without weights").conflicts([
        "dataset",
        "from",
        "against",
      ]),
      option("--sign <key>", "with --bundle: sign it with this SSH key"),
      option("--from <file>", "rebuild tables and page from such an archive").conflicts([
        "dataset",
        "profile",
        "open",
        "against",
      ]),
      option("--output <folder>", "with --from: folder of the rebuilt files (default: FILE.report)"),
      option("--open", "also open the report in the desktop's viewer"),
      ...place,
    ],
    examples: `
      pnpm pipeline report full-benchmark # the last tables, and whether they are up to date
      pnpm pipeline report full-benchmark --open # also open the page in the desktop's viewer
      pnpm pipeline report full-benchmark --groups # also scores by subject, paradigm, phenomenon
      pnpm pipeline report full-benchmark --dataset FOLDER # write a data set for Hugging Face's datasets
      pnpm pipeline report full-benchmark --against OTHER/results/full-benchmark/smoke # what differs, cell by cell, and why
      pnpm pipeline report full-benchmark --bundle evidence.zip # write an archive from which others rebuild the report
      pnpm pipeline report --from evidence.zip # rebuild the report elsewhere, offline
      pnpm pipeline report full-benchmark --set agent=nop # the report of a run with --set agent=nop`,
    load: async () => (await import("./commands/report-command.ts")).reportCommand,
  },
  {
    name: "protocol",
    does: "freeze what a report will measure, before the first attempt; `report` lists departures",
  },
  {
    name: "protocol freeze <pipeline>",
    does: "write attempts, metrics, tests, rules and digests of all code to protocols/; runs nothing",
    options: [profile, set(), ...place],
    examples: "pnpm pipeline protocol freeze full-benchmark --profile paper # before the first attempt",
    load: async () => (await import("./commands/protocol-command.ts")).protocolFreeze,
  },
  {
    name: "protocol show <pipeline>",
    does: "print the frozen protocol",
    options: [profile, set(), ...place],
    examples: "pnpm pipeline protocol show full-benchmark --profile paper # what was frozen",
    load: async () => (await import("./commands/protocol-command.ts")).protocolShow,
  },
  {
    name: "log <stage>",
    does: "print what a stage, or an attempt's agent, wrote when it last ran; escape sequences are shown as text",
    options: [...place, option("--tail <lines>", "print only the last lines")],
    examples: `
      pnpm pipeline log 'attempt[task=baby-lm,seed=1]' # what these wrote when they last ran
      pnpm pipeline log 'score[seed=1]' --tail 50 # the last 50 lines of each
      pnpm pipeline log 'score[agent=script-strong]' # a pattern of stages and axes; * and ? match`,
    load: async () => (await import("./commands/log-command.ts")).logCommand,
  },
  {
    name: "explain <stage>",
    does: "show why an instance would run or be reused: its key, what changed, stages upstream",
    options: [
      ...ofPipeline("pipeline of the stage"),
      all("also list the parts of its key: code, inputs, parameters"),
    ],
    examples: `
      pnpm pipeline explain 'score[task=baby-lm,seed=1]' # why they would run: key, changes, stages upstream
      pnpm pipeline explain attempt --pipeline hello --all # another pipeline; with the parts of each key`,
    load: async () => (await import("./commands/explain-command.ts")).explainCommand,
  },
  {
    name: "trace <cell...>",
    does: "list the scripts, inputs, attempt, host and log behind a number, and the command to repeat it",
    takes: "task, metric, agent and optionally seed, as the tables name them; or a stage instance",
    options: [
      ...ofPipeline("pipeline of the table or stage"),
      all("also list the parameters, digests and log of every stage behind it"),
    ],
    examples: `
      pnpm pipeline trace baby-lm bits-per-byte reference # what a cell of the tables was made from, for each seed
      pnpm pipeline trace baby-lm bits-per-byte reference 1 --all # for one seed, with every digest and log
      pnpm pipeline trace 'attempt[task=baby-lm,agent=script-strong,seed=1]' --json # any stage, as JSON`,
    load: async () => (await import("./commands/trace-command.ts")).traceCommand,
  },
];
