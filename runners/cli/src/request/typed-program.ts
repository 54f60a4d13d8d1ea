// How the user started this program, so that hints can be typed in the same place: without pnpm installed,
// `pnpm pipeline` would not be found.
// The form is set once at the start, since every message would otherwise pass it on.

import { shellWord } from "@mlrb/core/ports/command-line";

const usual = "pnpm pipeline";
let program = usual;

type Variables = Readonly<Record<string, string | undefined>>;

/** What `./mlrb` was typed as; `npx -y pnpm@10.34.9 pipeline` if npx brought pnpm; else `pnpm pipeline`. */
export function programIn({ MLRB_TYPED_AS, npm_execpath, npm_config_user_agent }: Variables): string {
  if (MLRB_TYPED_AS) return shellWord(MLRB_TYPED_AS);
  const version = /^pnpm\/([\w.-]+)/.exec(npm_config_user_agent ?? "")?.[1];
  // npx installs what it runs in a folder of this name
  const isFromNpx = /[/\\]_npx[/\\]/.test(npm_execpath ?? "");
  return isFromNpx && version !== undefined ? `npx -y pnpm@${version} pipeline` : usual;
}

/** Called by the program's start only: tests of single functions see the usual form. */
export function rememberProgram(variables: Variables): void {
  program = programIn(variables);
}

/** The words before a command's name. */
export function typedProgram(): string {
  return program;
}

/** A message of another package, with its commands in the form that the user typed. */
export function inTypedForm(text: string): string {
  return text.replaceAll(usual, () => program);
}
