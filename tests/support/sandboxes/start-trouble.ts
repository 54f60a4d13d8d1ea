// Whether walls can be opened here, found by running a program in them: an installed engine may still be unable to
// start anything for this user, e.g. under a kernel without user namespaces.
import { randomBytes } from "node:crypto";
import { chmodSync, chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Walls, WallsRequest } from "@mlrb/core/ports/sandbox";
import { sandboxUser } from "@mlrb/kit/processes/sandbox-user";

/** Why no program can be started; undefined if one can. */
export async function startTrouble(
  kind: string,
  open: (request: WallsRequest) => Promise<Walls>,
): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), "mlrb-trial-"));
  const token = `trial-${randomBytes(8).toString("hex")}`;
  const no = (why: string) => `${kind} starts no program here: ${why}`;
  try {
    if (process.getuid?.() === 0) {
      const { uid, gid } = sandboxUser(token);
      chownSync(folder, uid, gid);
      chmodSync(folder, 0o755);
    }
    const limits = { memoryBytes: 2 ** 28, processes: 64, diskBytes: 2 ** 20, cpus: 1 };
    const seen = { folder, seenAs: "/attempt", readOnly: [], reads: [] };
    const walls = await open({ ...seen, network: "none", limits, gpus: [], token });
    const env = { PATH: "/usr/bin:/bin" };
    const ended = await walls.exec({ argv: ["true"], cwd: "/attempt", env, onOutput() {} });
    await walls.close();
    if (ended.kind === "exited") return ended.code === 0 ? undefined : no(`exit status ${ended.code}`);
    return no("detail" in ended ? ended.detail : ended.signal);
  } catch (error) {
    return no((error as Error).message);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
