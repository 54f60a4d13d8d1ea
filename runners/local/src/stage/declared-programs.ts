// Programs of stages inside walls that are not in a system folder. A variable whose name ends in _COMMAND holds
// the shell command of one (MLRB_SCORER_COMMAND, from `command:` of scorer.yaml). The program is shown with the
// folder that it was installed in, where it finds its libraries, and with nothing else of a home folder.
import { existsSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { shellWord } from "@mlrb/core/ports/command-line";
import { realOf } from "./stage-permissions.ts";

type Variables = Readonly<Record<string, string>>;

/**
 * The variables that name commands, with the real path of each file in place of links: a container shows the file
 * behind a link under the link's name, where the file does not find its libraries. A link of another name is kept,
 * since the program may do what its name says. `path`: where the first word is looked up if it has no slash.
 */
export function realCommands(env: Variables, path: string): Record<string, string> {
  const commands = commandsIn(env, path).map(([name, words]) => {
    return [name, words.map(({ word, file = word }) => shellWord(file)).join(" ")];
  });
  return Object.fromEntries(commands);
}

/** The files that the commands name, and the folders that these were installed in. */
export function commandPaths(
  env: Variables,
  { path, home = homedir() }: { path: string; home?: string },
): string[] {
  const words = commandsIn(env, path).flatMap(([, words]) => words);
  return words.flatMap(({ file }) => (file === undefined ? [] : [file, installedIn(file, home)]));
}

/** The words of each command, and the files that they name. */
function commandsIn(env: Variables, path: string) {
  const commands = Object.entries(env).filter(([name]) => name.endsWith("_COMMAND"));
  return commands.map(([name, command]) => {
    return [name, wordsOf(command).map((word, index) => ({ word, file: found(word, index, path) }))] as const;
  });
}

/** The existing file that a word of a command names, behind links that have the file's name. */
function found(word: string, index: number, path: string): string | undefined {
  const places =
    index === 0 && !word.includes("/") ? path.split(delimiter).map((one) => join(one, word)) : [word];
  const place = places.find((one) => isAbsolute(one) && existsSync(one));
  if (place === undefined) return undefined;
  const real = realpathSync(place);
  return basename(real) === basename(place) ? real : place;
}

/** The folders of a PATH that are in a home folder, by their own and their real names. */
export function foldersInHomes(path: string, home: string = homedir()): string[] {
  const homes = [home, realOf(home), "/root", "/home", "/Users"];
  return path.split(delimiter).flatMap((folder) => {
    const names = [folder, realOf(folder)];
    return names.some((name) => homes.some((one) => contains(one, name))) ? names : [];
  });
}

/** Words as a shell would split them, without substitutions. */
function wordsOf(command: string): string[] {
  const words = command.matchAll(/(?:"(?:\\.|[^"\\])*"|'[^']*'|\\.|[^\s"'\\])+/g);
  return [...words].map(([word]) =>
    word.replace(
      /"((?:\\.|[^"\\])*)"|'([^']*)'|\\(.)/g,
      (_, double?: string, single?: string, one?: string) =>
        double !== undefined ? double.replace(/\\(["\\$`])/g, "$1") : (single ?? one ?? ""),
    ),
  );
}

/**
 * Of PREFIX/bin/NAME the prefix, of FOLDER/NAME the folder: the real ones, behind links. Only the file itself
 * where that folder holds more than one program's installation.
 */
function installedIn(program: string, home: string): string {
  const real = realpathSync(program);
  if (statSync(real).isDirectory()) return real;
  const folder = dirname(real);
  const prefix = basename(folder) === "bin" ? dirname(folder) : folder;
  return isShared(prefix, home) ? real : prefix;
}

/** A folder that contains a home folder, ~/.local, or one at the top: /opt and /srv hold many installations. */
function isShared(prefix: string, home: string): boolean {
  const homes = [home, realOf(home)];
  if (homes.some((one) => contains(prefix, one) || prefix === join(one, ".local"))) return true;
  return prefix.split("/").length <= 2 || /^\/(home|Users)\/[^/]+(\/\.local)?$/.test(prefix);
}

function contains(folder: string, path: string): boolean {
  return `${path}/`.startsWith(folder === "/" ? "/" : `${folder}/`);
}
