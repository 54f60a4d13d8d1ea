// Records the attempt that docs/agents.md demonstrates without a key: a provider on 127.0.0.1 plays the
// conversation of tests/support/demonstration, and its programs run in a real sandbox. Run the script again when
// the scaffold, its tools or the task's prompt change; tests/demonstration.thorough.test.ts then fails.
//   node scripts/record-demonstration.ts
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  demonstrationTask,
  playDemonstration,
  recordingFolder,
} from "../tests/support/demonstration/play.ts";
import { shareEnvironments } from "../tests/support/environments.ts";
import { throwAwayRepository } from "../tests/support/throw-away-repository.ts";

const repository = throwAwayRepository();
const root = mkdtempSync(join(tmpdir(), "mlrb-record-"));
try {
  shareEnvironments(root);
  const { said, folder } = await playDemonstration(repository, root);
  if (folder === undefined) throw new Error(`there is no record:\n${said.stdout}\n${said.stderr}`);
  const to = join(import.meta.dirname, "..", recordingFolder);
  rmSync(to, { recursive: true, force: true });
  for (const part of ["trajectory.jsonl", "attachments"])
    cpSync(join(folder, part), join(to, part), { recursive: true, mode: 0 });
  console.log(`recorded an attempt at ${demonstrationTask} in ${recordingFolder}`);
} finally {
  repository.remove();
  rmSync(root, { recursive: true, force: true });
}
