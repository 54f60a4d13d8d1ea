// `pipeline completion SHELL`: prints the script with which the shell completes `pnpm pipeline …`.
import { readFileSync } from "node:fs";
import { didYouMean } from "@mlrb/core/yaml/suggest";

const shells = ["bash", "zsh", "fish"];

export function completionCommand(_repository: string, shell: string): number {
  if (!shells.includes(shell)) {
    process.stderr.write(
      `unknown-shell: there is no completion for "${shell}"\n  help: ${didYouMean(shell, shells)}\n`,
    );
    return 2;
  }
  process.stdout.write(readFileSync(new URL(`../../completion/pipeline.${shell}`, import.meta.url), "utf8"));
  return 0;
}
