// `./mlrb` installs what a run needs. Tests and the bench also need the tools of those who change mlrb.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Installs them where they are missing, by the pnpm that started this script. Throws if that fails. */
export function ensureDevelopmentTools(repository: string): void {
  if (existsSync(join(repository, "tests/node_modules"))) return;
  const pnpm = process.env.npm_execpath;
  const args = ["install", "--frozen-lockfile"];
  const done =
    pnpm === undefined
      ? undefined
      : spawnSync(process.execPath, [pnpm, ...args], { cwd: repository, stdio: "inherit" });
  if (done?.status !== 0) throw new Error("the development tools are not installed: type pnpm install");
}
