// Python environments take minutes to build, so tests share them: MLRB_TEST_ENVIRONMENTS names their folder. If it
// is not set or lacks an environment, the run under test builds what it needs, as for a user, in a folder that is
// removed when the test file's process ends.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let own: string | undefined;

/** Makes the state of `root` use the shared environments. */
export function shareEnvironments(root: string): void {
  const given = process.env.MLRB_TEST_ENVIRONMENTS;
  if (given === undefined && own === undefined) {
    const made = mkdtempSync(join(tmpdir(), "mlrb-environments-"));
    own = made;
    process.once("exit", () => rmSync(made, { recursive: true, force: true }));
  }
  mkdirSync(join(root, ".mlrb"), { recursive: true });
  symlinkSync(given ?? own!, join(root, ".mlrb/environments"));
}
