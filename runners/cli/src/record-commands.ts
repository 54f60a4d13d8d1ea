// The commands that look after what is kept: attempt records and the cache. Each one's code is loaded when it is asked for.
import type { Command } from "commander";
import type { PlaceOptions } from "./commands/attempts-command.ts";
import type { ExportLogOptions } from "./commands/attempts-export-log.ts";
import type { ShowOptions } from "./commands/attempts-show.ts";

export function recordCommands(program: Command, repository: string): void {
  const attempts = program
    .command("attempts")
    .description(
      "list, show, export or import attempt records; resume one that waits, stop one that goes on, adopt one that was lost",
    );
  const place = (command: Command) =>
    command
      .option("--root <dir>", "where .mlrb/ lives (default: the repository)")
      .option("--json", "one JSON object a line on stdout", false);
  place(attempts.command("list")).action(async (options: PlaceOptions) => {
    const { attemptsList } = await import("./commands/attempts-list.ts");
    process.exitCode = attemptsList(repository, options);
  });
  place(
    attempts
      .command("show")
      .argument("<attempt>", "the beginning of a record's digest, or a stage instance or pattern; quote it"),
  )
    .option("--full", "every event", false)
    .action(async (attempt: string, options: ShowOptions) => {
      const { attemptsShow } = await import("./commands/attempts-show.ts");
      process.exitCode = attemptsShow(repository, attempt, options);
    });
  place(
    attempts
      .command("export")
      .argument("<dir>", "a folder to copy records to; with --format, an attempt or a pipeline")
      .argument("[record...]", "default: all"),
  )
    .option("--format <name>", "inspect or atif: an attempt, or all of a run, for other programs")
    .option("--output <path>", "a file, or a folder for names that other programs' listings find")
    .option("--profile <name>", "with a pipeline: its runs of this profile only")
    .action(async (dir: string, records: string[], options: PlaceOptions & Partial<ExportLogOptions>) => {
      const { format } = options;
      if (format !== undefined) {
        const { attemptsExportLog } = await import("./commands/attempts-export-log.ts");
        process.exitCode = attemptsExportLog(repository, [dir, ...records], { ...options, format });
        return;
      }
      const { attemptsExport } = await import("./commands/attempts-command.ts");
      process.exitCode = attemptsExport(repository, { dir, records }, options);
    });
  place(
    attempts
      .command("stop")
      .argument("<attempt>", "as `attempts list` names it, or its stage instance; quote it"),
  ).action(async (stage: string, options: PlaceOptions) => {
    const { attemptsStop } = await import("./commands/attempts-stop.ts");
    process.exitCode = await attemptsStop(repository, stage, options);
  });
  place(
    attempts
      .command("resume")
      .argument(
        "[attempt...]",
        "as `attempts list` names it, or its stage instance (default: all that wait for you)",
      ),
  ).action(async (asked: string[], options: PlaceOptions) => {
    const { attemptsResume } = await import("./commands/attempts-resume.ts");
    process.exitCode = await attemptsResume(repository, asked, options);
  });
  place(
    attempts
      .command("adopt")
      .argument(
        "[attempt]",
        "a lost attempt, by its stage instance or the name of its folder (default: all)",
      ),
  )
    .description("make records of lost attempts that had come to their end")
    .action(async (attempt: string | undefined, options: PlaceOptions) => {
      const { attemptsAdopt } = await import("./commands/attempts-adopt.ts");
      process.exitCode = await attemptsAdopt(repository, attempt, options);
    });
  place(
    attempts
      .command("verify")
      .argument("[record...]", "the beginnings of records' digests (default: all)")
      .description("read every byte of records; repair what is damaged from the cache"),
  ).action(async (records: string[], options: PlaceOptions) => {
    const { attemptsVerify } = await import("./commands/attempts-verify.ts");
    process.exitCode = await attemptsVerify(repository, records, options);
  });
  place(attempts.command("import").argument("<dir>", "a folder that `attempts export` made")).action(
    async (dir: string, options: PlaceOptions) => {
      const { attemptsImport } = await import("./commands/attempts-command.ts");
      process.exitCode = attemptsImport(repository, dir, options);
    },
  );

  const cache = program.command("cache").description("what the cache holds; check it; free space");
  for (const [name, description] of [
    ["stats", "how much there is, and of what"],
    ["verify", "read every content; replace what is damaged from attempt records, or remove it"],
    ["gc", "remove results that no pipeline's last run and no attempt uses"],
  ] as const) {
    place(cache.command(name).description(description)).action(async (options: PlaceOptions) => {
      const { cacheCommand } = await import("./commands/cache-command.ts");
      process.exitCode = cacheCommand(repository, name, options);
    });
  }
}
