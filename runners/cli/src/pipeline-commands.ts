// Declares the commands that run a pipeline, and those that only read what its runs left.
import { type Command, Option } from "commander";
import {
  type Loads,
  pipelineArgument,
  withAll,
  withJobs,
  withPipeline,
  withPlace,
  withPrices,
  withProfile,
  withSelection,
  withSet,
  withStalePolicy,
} from "./command-options.ts";
import { remoteModes } from "./request/run-invocation.ts";

export function runningCommands(program: Command, loads: Loads): void {
  const starts = (name: string) => withStartOptions(program.command(name).argument(...pipelineArgument));
  starts("run")
    .description("run what changed, print the main table; `report` prints the rest")
    .option(
      "--audit",
      "rerun the selected stages, except attempts, under strace; list what they read and do not declare",
      false,
    )
    .action(loads(async () => (await import("./commands/run-command.ts")).runCommand));

  starts("watch")
    .description("run, and run again after each edit of a file that the plan depends on")
    .action(loads(async () => (await import("./commands/watch-command.ts")).watchCommand));

  const plan = withStalePolicy(withSelection(program.command("plan").argument(...pipelineArgument)));
  withAll(plan, "list each stage instance with its reasons, instead of counts");
  withPrices(plan, {
    maxCost: "as for `run`: what attempts may spend together",
    price: "as for `run`: price of a model",
  })
    .description("show what would run or be reused, and why; runs nothing")
    .action(loads(async () => (await import("./commands/plan-command.ts")).planCommand));

  const score = program
    .command("score")
    .argument("<folder>", "folder to score, as an agent would submit it")
    .requiredOption("--task <name>", "task of the submission")
    .option("--pipeline <name>", "pipeline whose stages validate and score", "full-benchmark")
    .description(
      "validate and score a folder as a submission, next to trivial baselines and reference models",
    );
  withPlace(withJobs(withProfile(score))).action(
    loads(async () => (await import("./commands/score-command.ts")).scoreCommand),
  );

  const task = program.command("task").description("check: measure the rules of a task");
  const check = task
    .command("check")
    .argument("<task>", "a task, as `list tasks` names it")
    .description("judge baselines, honest models and cheats; print how often each rule is wrong");
  withPlace(withJobs(check)).action(
    loads(async () => (await import("./task-check/task-check.ts")).taskCheck),
  );
}

function withStartOptions(command: Command): Command {
  withJobs(withStalePolicy(withSelection(command)))
    .addOption(
      new Option(
        "--keep-going",
        "after a failure, run the stages that do not need its outputs (default)",
      ).conflicts("failFast"),
    )
    .addOption(new Option("--fail-fast", "after a failure, start no other stage"))
    .option("--max-gpu-hours <n>", "GPU hours that new attempts may be expected to take (default: 0)");
  return withPrices(command, {
    maxCost:
      "dollars that new attempts may be expected to cost (default: 0); if given, also the most that they may spend together",
    price: "price of a model that runners/agents/prices.yaml lacks, in dollars per million tokens",
  })
    .option("--take-over", "restart attempts leased by a host that is down", false)
    .option(
      "--unsafe-local",
      "run untrusted agents as plain processes of this host: they can read and do whatever you can",
      false,
    )
    .option(
      "--weak-limits",
      "run untrusted agents in bubblewrap though this user may make no control group: their memory limit is only polled",
      false,
    )
    .addOption(
      new Option(
        "--remote-cache <mode>",
        "the server of MLRB_REMOTE_CACHE: take results, also send them, or neither (default: read-write with MLRB_REMOTE_CACHE_KEY, else read; docs/remote-cache.md)",
      ).choices([...remoteModes]),
    )
    .option(
      "--on-event <command>",
      "a shell command that gets a JSON object on its standard input when an attempt waits or ends, a stage fails or the run ends",
    )
    .option("--yes", "start new attempts without a limit on their expected cost", false);
}

export function readingCommands(program: Command, loads: Loads): void {
  withSelection(program.command("status").argument(...pipelineArgument))
    .description("show progress: instances by state, what runs now, what failed, what to do next")
    .action(loads(async () => (await import("./commands/status-command.ts")).statusCommand));

  withSelection(program.command("graph").argument(...pipelineArgument))
    .description("draw the stages, the artifacts between them, and their state")
    .option("--instances", "draw each stage instance; --only and --set select them", false)
    .option("--output <file>", "file to write, an .svg, or an .mmd for Mermaid (default: Mermaid to stdout)")
    .action(loads(async () => (await import("./commands/graph-command.ts")).graphCommand));

  const report = withProfile(
    program.command("report").argument("[pipeline]", `${pipelineArgument[1]}; none with --from`),
  );
  withSet(report, "the report of a run with the same --set")
    .description("print every table of the last results, and whether they are up to date")
    .option("--groups", "also print scores by group: subject, paradigm, phenomenon", false)
    .option(
      "--against <what>",
      "print instead what differs from an earlier run, a folder of results, a report.json or an evidence bundle, cell by cell, and why",
    )
    .option("--markdown", "with --against: as Markdown", false)
    .option("--dataset <folder>", "write the results as a Hugging Face data set instead")
    .addOption(
      new Option(
        "--bundle <file>",
        "write the evidence behind the results as one archive instead, without weights and data",
      ).conflicts(["dataset", "from", "against"]),
    )
    .option("--sign <key>", "with --bundle: sign it with this SSH key")
    .addOption(
      new Option(
        "--from <file>",
        "rebuild the tables and the page from such an archive; needs no run here",
      ).conflicts(["dataset", "profile", "open"]),
    )
    .option("--verify", "with --from: only check its bytes and signature, and name what was changed", false)
    .option("--output <folder>", "with --from: folder of the rebuilt files (default: FILE.report)")
    .option(
      "--rescore <n>",
      "with --from: score n of its submissions again, and compare; status 1 beyond the tolerance",
    )
    .option(
      "--submissions <where>",
      "with --rescore: a folder that `attempts export` wrote or of folders named by digest, or such a repository, hf://datasets/ORG/NAME[@REVISION]",
    )
    .option("--sample-seed <text>", "with --rescore: chooses the submissions (default: random, printed)")
    .option("--tolerance <share>", "with --rescore: of the value", "0.01")
    .option("--open", "also open the report in the desktop's viewer", false);
  withPlace(report).action(loads(async () => (await import("./commands/report-command.ts")).reportCommand));

  protocolCommands(program, loads);

  const stageArgument = ["<stage>", "a stage instance, or a pattern such as 'score[agent=nop]'"] as const;
  withPlace(program.command("log").argument(...stageArgument))
    .description("print what a stage wrote when it last ran; escape sequences are shown as text")
    .option("--tail <lines>", "print only the last lines")
    .action(loads(async () => (await import("./commands/log-command.ts")).logCommand));

  const explain = withPipeline(
    program.command("explain").argument(...stageArgument),
    "pipeline of the stage",
  );
  withAll(explain, "also list the parts of its key: code, inputs, parameters")
    .description("show why an instance would run or be reused: its key, what changed, stages upstream")
    .action(loads(async () => (await import("./commands/explain-command.ts")).explainCommand));

  const cell = "task, metric, agent and optionally seed, as the tables name them; or a stage instance";
  const trace = withPipeline(
    program.command("trace").argument("<cell...>", cell),
    "pipeline of the table or stage",
  );
  withAll(trace, "also list the parameters, digests and log of every stage behind it")
    .description(
      "list the scripts, inputs, attempt, host and log behind a number, and the command to repeat it",
    )
    .action(loads(async () => (await import("./commands/trace-command.ts")).traceCommand));
}

function protocolCommands(program: Command, loads: Loads): void {
  const protocol = program
    .command("protocol")
    .description("freeze what a report will measure, before the first attempt; `report` lists departures");
  const declare = (name: string, description: string) =>
    withPlace(
      withSet(
        withProfile(
          protocol
            .command(name)
            .description(description)
            .argument(...pipelineArgument),
        ),
      ),
    );
  declare(
    "freeze",
    "write attempts, metrics, tests, rules and digests of all code to protocols/; runs nothing",
  )
    .option("--replace <reason>", "replace a frozen protocol; the old one is kept, and the report says so")
    .action(loads(async () => (await import("./commands/protocol-command.ts")).protocolFreeze));
  declare("show", "print the frozen protocol").action(
    loads(async () => (await import("./commands/protocol-command.ts")).protocolShow),
  );
}
