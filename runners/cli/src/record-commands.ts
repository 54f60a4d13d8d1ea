// The commands on what is kept: attempts, the cache and locked sources.
import { all, attemptWords, jobs, option, place, prices, profile, set } from "./command-options.ts";
import type { CommandRow } from "./command-table.ts";

/** Those on attempts that are used most come first. */
export const recordCommands: CommandRow[] = [
  {
    name: "attempts",
    does: "list, show, watch, pause, resume and stop attempts; score, extend, export, import, verify, thin or adjudicate them",
  },
  {
    name: "attempts list [attempt...]",
    does: "list records, then running, ended and lost attempts, with their cost and cause",
    takes: "only these: beginnings of digests, stage instances or patterns; quote them",
    options: [
      ...place,
      option("--pipeline <name>", "only attempts of this pipeline"),
      option("--state <state>", "only attempts in this state").choices([
        "recorded",
        "running",
        "ended",
        "lost",
        "damaged",
      ]),
    ],
    examples: `
      pnpm pipeline attempts list # every record, newest last, then running and lost attempts
      pnpm pipeline attempts list 'attempt[task=baby-lm]' --state lost # lost ones of a task, with cost and cause`,
    load: async () => (await import("./commands/attempts/attempts-list.ts")).attemptsList,
  },
  {
    name: "attempts show <attempt>",
    does: "print what an attempt did, step by step",
    takes: "the beginning of a record's digest, or a stage instance or pattern; quote it",
    options: [...place, all("print every event")],
    examples: `
      pnpm pipeline attempts show 3f2a # what an attempt did, by the beginning of its digest
      pnpm pipeline attempts show 'attempt[task=baby-lm,seed=1]' # the newest attempt of a stage, also while it runs`,
    load: async () => (await import("./commands/attempts/attempts-show.ts")).attemptsShow,
  },
  {
    name: "attempts watch [attempt]",
    does: "show live what the agent of a running attempt does, what it used and the time left",
    options: [...place, all("also print output of programs and requests to models")],
    examples:
      "pnpm pipeline attempts watch # what the agent of the running attempt does, its spending and the time left",
    load: async () => (await import("./commands/attempts/attempts-watch.ts")).attemptsWatch,
  },
  {
    name: "attempts human",
    does: "let a person attempt a task at a shell, under an agent's limits; the same command comes back after a pause",
    options: [
      ...place,
      option("--task <name>", "the task"),
      option("--seed <n>", "the person's number: each person has another"),
      option("--alias <name>", "of the person (default: asks for it)"),
      option("--agent <name>", "a preset of kind person (default: the first)"),
      option("--pipeline <name>", "the pipeline").default("full-benchmark"),
      profile,
    ],
    examples:
      "pnpm pipeline attempts human --task baby-lm --seed 1 # consent, a shell with the deadline of agents, a recorded attempt",
    load: async () => (await import("./commands/attempts/attempts-human.ts")).attemptsHuman,
  },
  {
    name: "attempts forget <alias>",
    does: "remove a person's alias from this machine; attempts and scores stay",
    takes: "the alias",
    options: [option("--root <dir>", "folder of .mlrb/ and results/ (default: the repository)")],
    load: async () => (await import("./commands/attempts/attempts-human.ts")).attemptsForget,
  },
  {
    name: "attempts pause [attempt]",
    does: "let a running attempt stop before its next model call; `attempts resume` continues it",
    options: place,
    load: async () => (await import("./commands/attempts/attempts-pause.ts")).attemptsPause,
  },
  {
    name: "attempts resume [attempt...]",
    does: "continue attempts that wait for you, with the keys set in this shell, or whose supervisor or host died",
    takes: `${attemptWords} (default: all of them)`,
    options: [
      ...place,
      option("--pipeline <path>", "the file of their pipeline, if it is not in pipelines/"),
      option("--max-gpu-hours <hours>", "start it without a question up to this many GPU hours"),
      option("--yes", "start it without a question"),
      ...prices({
        maxCost: "the most that attempts without a supervisor may spend from now on",
        price: "dollars per million tokens, for models without a known price",
      }),
    ],
    examples:
      "pnpm pipeline attempts resume # continue every attempt that waits for you, with the keys of this shell",
    load: async () => (await import("./commands/attempts/attempts-resume.ts")).attemptsResume,
  },
  {
    name: "attempts stop <attempt>",
    does: "end a running attempt; quarantine what it made and spent",
    options: place,
    examples:
      "pnpm pipeline attempts stop 'attempt[task=baby-lm,agent=script-strong,seed=1]' # end a running or waiting attempt; quarantine what it made",
    load: async () => (await import("./commands/attempts/attempts-stop.ts")).attemptsStop,
  },
  {
    name: "attempts score <attempt>",
    does: "score what an attempt would submit now; changes neither the attempt nor a table",
    options: [...place, jobs],
    examples:
      "pnpm pipeline attempts score 3f2a # scores of what an attempt would submit now, or has submitted",
    load: async () => (await import("./commands/attempts/attempts-score.ts")).attemptsScore,
  },
  {
    name: "attempts extend <attempt>",
    does: "give an attempt more time or money; it leaves the primary tables",
    takes: `${attemptWords}; it runs, is paused or was broken off`,
    options: [
      ...place,
      option("--hours <n>", "add working time"),
      option("--dollars <n>", "add money for its model calls"),
      option("--by <name>", "who decides (default: your login)"),
    ],
    examples:
      "pnpm pipeline attempts extend 3f2a --hours 2 # two hours more; the attempt leaves the primary tables",
    load: async () => (await import("./commands/attempts/attempts-intervene.ts")).attemptsExtend,
  },
  {
    name: "attempts export <dir> [record...]",
    does: "copy records for another machine, or write attempts for another program",
    takes: "folder to copy records to; with --format, an attempt or a pipeline",
    options: [
      ...place,
      option("--format <name>", "inspect or atif: write an attempt, or all attempts of a run"),
      option("--output <path>", "with --format: a file, or a folder, ending in /, for `inspect view`"),
      option("--profile <name>", "with --format and a pipeline: only its runs of this profile"),
      option("--sign <key>", "sign the folder of records with this SSH key; see docs/guide.md"),
    ],
    examples: `
      pnpm pipeline attempts export ../records # copy records for another machine, which imports them
      pnpm pipeline attempts export ../records --sign ~/.ssh/id_ed25519 # the same, signed with an SSH key
      pnpm pipeline attempts export 3f2a --format inspect --output log.json # one attempt as a log for \`inspect view\`; atif is the other format
      pnpm pipeline attempts export full-benchmark --format inspect --output logs/ # all attempts of a run as one log that \`inspect view\` lists`,
    load: async () => (await import("./commands/attempts/attempts-export.ts")).attemptsExport,
  },
  {
    name: "attempts import <dir>",
    does: "add records that `attempts export` copied on another machine",
    takes: "the folder that `attempts export` wrote",
    options: [
      ...place,
      option("--prefer-imported", "use these instead of records here; `attempts use` takes it back"),
      option("--require-signed", "refuse a folder without a signature by one of your allowed signers"),
    ],
    examples:
      "pnpm pipeline attempts import ../records --require-signed # add records that one of your allowed signers exported",
    load: async () => (await import("./commands/attempts/attempts-import.ts")).attemptsImport,
  },
  {
    name: "attempts use <record>",
    does: "choose between records of one attempt, if some were imported",
    takes: "the beginning of the digest of the record to use",
    options: place,
    examples: "pnpm pipeline attempts use 3f2a # choose between an imported record and its competitors",
    load: async () => (await import("./commands/attempts/attempts-import.ts")).attemptsUse,
  },
  {
    name: "attempts adopt [attempt]",
    does: "make records of lost attempts that had finished",
    takes: "a lost attempt, by its stage instance or the name of its folder (default: all)",
    options: place,
    load: async () => (await import("./commands/attempts/attempts-adopt.ts")).attemptsAdopt,
  },
  {
    name: "attempts verify [record...]",
    does: "read every byte of records; repair damaged files from the cache",
    options: place,
    load: async () => (await import("./commands/attempts/attempts-verify.ts")).attemptsVerify,
  },
  {
    name: "attempts thin [attempt...]",
    does: "remove weights of recorded attempts, once everything planned was made of them",
    takes: `${attemptWords} (default: the current record of each attempt)`,
    options: [
      ...place,
      set(),
      option(
        "--keep <what>",
        "final: remove snapshots; none: also final submissions (default: final)",
      ).choices(["final", "none"]),
      option("--dry-run", "print what would go, and which stages could not run again; remove nothing"),
    ],
    examples: `
      pnpm pipeline attempts thin --dry-run # what removing snapshots of scored attempts would free, and what could not run again
      pnpm pipeline attempts thin 3f2a --keep none # remove the weights of one attempt, also its submission's`,
    load: async () => (await import("./attempts/attempts-thin.ts")).attemptsThin,
  },
  {
    name: "attempts adjudicate [attempt]",
    does: "decide a rule of a recorded attempt, or a judge's mark; the machine's verdict is kept",
    takes: `${attemptWords}; none with --judged`,
    options: [
      ...place,
      option("--rule <name>", "a rule of the attempt's task, or RUBRIC.QUESTION, whose mark `pass` removes"),
      option("--verdict <pass|fail>", "the latest decision counts"),
      option("--by <name>", "who decides; tables print it"),
      option("--reason <text>", "why; tables print it"),
      option("--judged <pipeline>", "list attempts to decide on: marked ones among others, not told apart"),
      option("--profile <name>", "with --judged: of this profile (default: the one published last)"),
    ],
    examples: `
      pnpm pipeline attempts adjudicate --judged full-benchmark # attempts to read, some of which a judge marked
      pnpm pipeline attempts adjudicate 3f2a --rule from-scratch --verdict pass --by "A. Lee" --reason "see notes/3f2a.md" # decide a rule; only the report runs again`,
    load: async () => (await import("./attempts/attempts-adjudicate.ts")).attemptsAdjudicate,
  },
  { name: "cache", does: "show the cache's size, verify it, free space" },
  {
    name: "cache stats",
    does: "print how many contents and results there are",
    options: place,
    load: async () => (await import("./commands/cache-command.ts")).cacheStats,
  },
  {
    name: "cache verify",
    does: "read every content; replace damaged ones from attempt records, or remove them",
    options: place,
    load: async () => (await import("./commands/cache-command.ts")).cacheVerify,
  },
  {
    name: "cache gc",
    does: "remove results that neither a pipeline's last run nor an attempt uses",
    options: place,
    examples: "pnpm pipeline cache gc # remove what neither a last run nor an attempt uses",
    load: async () => (await import("./commands/cache-command.ts")).cacheGc,
  },
  {
    name: "sources",
    does: "list, lock, verify and accept the sources of official data and published models",
  },
  {
    name: "sources list [source...]",
    does: "print each source with its state, commit, size, licence and consent",
    options: place,
    examples:
      "pnpm pipeline sources list # each source of official data, whether it is locked, its size and licence",
    load: async () => (await import("./sources/sources-list.ts")).sourcesList,
  },
  {
    name: "sources lock [source...]",
    does: "resolve sources on the hub; write commit, files and licence to sources.lock.yaml",
    options: [...place, option("--update", "also resolve sources that are locked already")],
    examples: `
      pnpm pipeline sources lock # resolve all that are not locked; HF_TOKEN opens gated ones
      pnpm pipeline sources lock mmlu --update # resolve one again, and show what moved`,
    load: async () => (await import("./sources/sources-lock.ts")).sourcesLock,
  },
  {
    name: "sources verify [source...]",
    does: "compare sources.lock.yaml with the hub; changes nothing",
    options: place,
    examples: "pnpm pipeline sources verify # compare the lock with the hub; status 1 if anything differs",
    load: async () => (await import("./sources/sources-verify.ts")).sourcesVerify,
  },
  {
    name: "sources accept [source...]",
    does: "show the licences and terms of locked sources, and record that you accept them",
    options: [...place, option("--yes", "accept them without a question")],
    examples:
      "pnpm pipeline sources accept mmlu blimp # read and accept licences, before a run downloads anything",
    load: async () => (await import("./sources/sources-accept.ts")).sourcesAccept,
  },
];
