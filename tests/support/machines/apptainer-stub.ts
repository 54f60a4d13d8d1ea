// A folder for the PATH in which a program named `apptainer` does with bubblewrap what Apptainer's documentation says.
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function apptainerStub(): { bin: string; remove(): void } {
  const bin = mkdtempSync(join(tmpdir(), "apptainer-"));
  chmodSync(bin, 0o755);
  copyFileSync(join(import.meta.dirname, "apptainer-stub.py"), join(bin, "apptainer"));
  chmodSync(join(bin, "apptainer"), 0o755);
  return { bin, remove: () => rmSync(bin, { recursive: true, force: true }) };
}
