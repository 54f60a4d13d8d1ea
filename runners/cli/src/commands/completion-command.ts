// `pipeline completion SHELL`: prints the script with which the shell completes `pnpm pipeline …`.

import { readFileSync } from "node:fs";
import { didYouMean } from "@mlrb/core/yaml/suggest";
import { refuseWords } from "../request/refuse.ts";

const shells = ["bash", "zsh", "fish"];

export function completionCommand(_repository: string, shell: string): number {
  if (!shells.includes(shell))
    return refuseWords(
      `unknown-shell: there is no completion for "${shell}"\n  help: ${didYouMean(shell, shells)}`,
    );
  process.stdout.write(readFileSync(new URL(`../../completion/pipeline.${shell}`, import.meta.url), "utf8"));
  return 0;
}
