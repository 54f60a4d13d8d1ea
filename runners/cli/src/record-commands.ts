// Declares the commands on what is kept: attempts, the cache, fingerprints and locked sources.
import { type Command, Option } from "commander";
import { type Loads, withAll, withConsent, withJobs, withPlace, withSet } from "./command-options.ts";

const attemptWords = "an attempt as `attempts list` names it, or its stage instance or pattern; quote it";

export function attemptCommands(program: Command, loads: Loads): void {
  const attempts = program
    .command("attempts")
    .description(
      "list, show, verify, thin, export, import, choose and adjudicate attempts; watch, score, pause, extend, annotate, branch, resume, stop or adopt one",
    );
  const declare = (name: string, description: string) =>
    withPlace(attempts.command(name).description(description));
  declare("list", "list records, then running, ended and lost attempts, with their cost and cause")
    .argument("[attempt...]", "only these: beginnings of digests, stage instances or patterns; quote them")
    .option("--pipeline <name>", "only attempts of this pipeline")
    .addOption(
      new Option("--state <state>", "only attempts in this state").choices([
        "recorded",
        "running",
        "ended",
        "lost",
        "damaged",
      ]),
    )
    .action(loads(async () => (await import("./commands/attempts/attempts-list.ts")).attemptsList));
  withAll(declare("show", "print what an attempt did, step by step"), "print every event")
    .argument("<attempt>", "the beginning of a record's digest, or a stage instance or pattern; quote it")
    .action(loads(async () => (await import("./commands/attempts/attempts-show.ts")).attemptsShow));
  withAll(
    declare("watch", "show live what the agent of a running attempt does, what it used and the time left"),
    "also print output of programs and requests to models",
  )
    .argument("[attempt]", `${attemptWords} (default: the one that runs)`)
    .action(loads(async () => (await import("./commands/attempts/attempts-watch.ts")).attemptsWatch));
  withJobs(
    declare("score", "score what an attempt would submit now; changes neither the attempt nor a table"),
  )
    .argument("<attempt>", attemptWords)
    .action(loads(async () => (await import("./commands/attempts/attempts-score.ts")).attemptsScore));
  declare("export", "copy records for another machine, or write attempts for another program")
    .argument("<dir>", "folder to copy records to; with --format, an attempt or a pipeline")
    .argument("[record...]", "the beginnings of records' digests (default: all)")
    .option("--format <name>", "inspect or atif: write an attempt, or all attempts of a run")
    .option(
      "--output <path>",
      "with --format: a file, or a folder ending in / for names that `inspect view` lists",
    )
    .option("--profile <name>", "with --format and a pipeline: only its runs of this profile")
    .option("--sign <key>", "sign the folder of records with this SSH key; see docs/attempts.md")
    .action(loads(async () => (await import("./commands/attempts/attempts-export.ts")).attemptsExport));
  declare("stop", "end a running attempt; quarantine what it made and spent")
    .argument("<attempt>", attemptWords)
    .action(loads(async () => (await import("./commands/attempts/attempts-stop.ts")).attemptsStop));
  declare("pause", "let a running attempt stop before its next model call; `attempts resume` continues it")
    .argument("[attempt]", `${attemptWords} (default: the one that runs)`)
    .action(loads(async () => (await import("./commands/attempts/attempts-pause.ts")).attemptsPause));
  declare("extend", "give an attempt more time or money; it leaves the primary tables")
    .argument("<attempt>", `${attemptWords}; it runs, is paused or was broken off`)
    .option("--hours <n>", "add working time")
    .option("--dollars <n>", "add money for its model calls")
    .option("--by <name>", "who decides (default: your login)")
    .action(loads(async () => (await import("./commands/attempts/attempts-intervene.ts")).attemptsExtend));
  const resume = declare(
    "resume",
    "continue attempts that wait for you, with the keys set in this shell, or whose supervisor or host died",
  )
    .argument("[attempt...]", `${attemptWords} (default: all of them)`)
    .option("--pipeline <path>", "the file of their pipeline, if it is not in pipelines/");
  withConsent(resume, {
    maxCost: "the most that attempts without a supervisor may spend from now on",
  }).action(loads(async () => (await import("./commands/attempts/attempts-resume.ts")).attemptsResume));
  declare("adopt", "make records of lost attempts that had finished")
    .argument("[attempt]", "a lost attempt, by its stage instance or the name of its folder (default: all)")
    .action(loads(async () => (await import("./commands/attempts/attempts-adopt.ts")).attemptsAdopt));
  declare("verify", "read every byte of records; repair damaged files from the cache")
    .argument("[record...]", "the beginnings of records' digests (default: all)")
    .action(loads(async () => (await import("./commands/attempts/attempts-verify.ts")).attemptsVerify));
  withSet(declare("thin", "remove weights of recorded attempts, once everything planned was made of them"))
    .argument("[attempt...]", `${attemptWords} (default: the current record of each attempt)`)
    .addOption(
      new Option(
        "--keep <what>",
        "final: remove snapshots; none: also final submissions (default: final)",
      ).choices(["final", "none"]),
    )
    .option("--dry-run", "print what would go, and which stages could not run again; remove nothing", false)
    .action(loads(async () => (await import("./attempts/attempts-thin.ts")).attemptsThin));
  declare("import", "add records that `attempts export` copied on another machine")
    .argument("<dir>", "the folder that `attempts export` wrote")
    .option(
      "--prefer-imported",
      "use these records also instead of ones that are here; `attempts use` takes it back",
      false,
    )
    .option("--require-signed", "refuse a folder without a signature by one of your allowed signers", false)
    .action(loads(async () => (await import("./commands/attempts/attempts-import.ts")).attemptsImport));
  declare("adjudicate", "decide a rule of a recorded attempt; the machine's verdict is kept")
    .argument("<attempt>", attemptWords)
    .requiredOption("--rule <name>", "a rule of the attempt's task, as its task.yaml names it")
    .requiredOption("--verdict <pass|fail>", "what you decide; the latest decision counts, all are kept")
    .requiredOption("--by <name>", "who decides; tables print it")
    .requiredOption("--reason <text>", "why; tables print it")
    .action(loads(async () => (await import("./attempts/attempts-adjudicate.ts")).attemptsAdjudicate));
  declare("use", "choose between records of one attempt, if some were imported")
    .argument("<record>", "the beginning of the digest of the record to use")
    .action(loads(async () => (await import("./commands/attempts/attempts-import.ts")).attemptsUse));
}

export function cacheCommands(program: Command, loads: Loads): void {
  const cache = program.command("cache").description("show the cache's size, verify it, free space");
  const code = () => import("./commands/cache-command.ts");
  withPlace(cache.command("stats").description("print how many contents and results there are")).action(
    loads(async () => (await code()).cacheStats),
  );
  withPlace(
    cache
      .command("verify")
      .description("read every content; replace damaged ones from attempt records, or remove them"),
  ).action(loads(async () => (await code()).cacheVerify));
  withPlace(
    cache.command("gc").description("remove results that neither a pipeline's last run nor an attempt uses"),
  ).action(loads(async () => (await code()).cacheGc));
}

export function fingerprintCommands(program: Command, loads: Loads): void {
  const fingerprints = program
    .command("fingerprints")
    .description("make fingerprints of published models, which the rule on training from scratch looks for");
  const make = fingerprints
    .command("make")
    .argument("<model...>", "a folder of safetensors, or owner/name or owner/name@revision of a hub")
    .requiredOption("--licence <text>", "licence of the weights")
    .option("--source <text>", "origin and version of the weights (default, for a hub: its name there)")
    .option("--output <folder>", "where NAME.json is written (default: tasks/known-weights)")
    .description("write the fingerprint of each model; a hub is read one tensor at a time");
  withPlace(make).action(
    loads(async () => (await import("./fingerprints/fingerprints-make.ts")).fingerprintsMake),
  );
}

export function sourceCommands(program: Command, loads: Loads): void {
  const sources = program
    .command("sources")
    .description("list, lock, verify and accept the sources of official data and published models");
  const declare = (name: string, description: string) =>
    withPlace(sources.command(name).description(description)).argument(
      "[source...]",
      "sources, as `list sources` names them (default: all)",
    );
  declare("list", "print each source with its state, commit, size, licence and consent").action(
    loads(async () => (await import("./sources/sources-list.ts")).sourcesList),
  );
  declare("lock", "resolve sources on the hub; write commit, files and licence to sources.lock.yaml")
    .option("--update", "also resolve sources that are locked already", false)
    .action(loads(async () => (await import("./sources/sources-lock.ts")).sourcesLock));
  declare("verify", "compare sources.lock.yaml with the hub; changes nothing").action(
    loads(async () => (await import("./sources/sources-verify.ts")).sourcesVerify),
  );
  declare("accept", "show the licences and terms of locked sources, and record that you accept them")
    .option("--yes", "accept them without a question", false)
    .action(loads(async () => (await import("./sources/sources-accept.ts")).sourcesAccept));
}
