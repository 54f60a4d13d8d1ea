// The attempt records of tests/fixtures/records in their own state folder, with the repository files that they
// were made from.
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeFolder } from "@mlrb/kit/files/remove-folder";
import { keptPipeline } from "../../fixtures/records/pipeline.ts";
import { startProgram } from "../run-program.ts";
import { type Repository, throwAwayRepository } from "../throw-away-repository.ts";

const fixture = join(import.meta.dirname, "../../fixtures/records");

/** The instances with a record. */
export const keptAttempts = ["kept-cli", "kept-model", "kept-replay", "kept-script"].map(
  (agent) => `attempt[task=kept,agent=${agent},seed=1]`,
);

export type Kept = {
  repository: Repository;
  /** Makes a folder whose state has only the records. */
  root(): string;
  /** Runs `COMMAND kept … --json --root ROOT` to its end. */
  kept(root: string, command: string, ...args: string[]): ReturnType<typeof startProgram>["ended"];
  remove(): void;
};

export function keptRecords(): Kept {
  const repository = throwAwayRepository();
  const above = realpathSync(mkdtempSync(join(tmpdir(), "mlrb-kept-")));
  cpSync(join(fixture, "overlay"), repository.path, { recursive: true });
  // made here, since not every transport of a repository keeps links
  symlinkSync("notes.txt", join(repository.path, "tasks/kept/scripts/linked.txt"));
  repository.write("pipelines/kept.yaml", keptPipeline(repository.path));
  let roots = 0;
  return {
    repository,
    root() {
      const root = join(above, `root-${++roots}`);
      const records = join(root, ".mlrb/attempts/records");
      cpSync(join(fixture, "golden/records"), records, { recursive: true });
      for (const digest of readdirSync(records)) {
        const { outputs } = JSON.parse(readFileSync(join(records, digest, "record.json"), "utf8"));
        for (const { kind, file } of Object.values<{ kind: string; file: string }>(outputs))
          if (kind === "dir") mkdirSync(join(records, digest, file), { recursive: true });
      }
      return root;
    },
    kept: (root, command, ...args) =>
      startProgram(repository.path, [command, "kept", "--json", "--root", root, ...args]).ended,
    remove() {
      repository.remove();
      removeFolder(above);
    },
  };
}
