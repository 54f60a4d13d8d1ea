// Asks a Python program of this folder, in JSON both ways.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { mustFollow } from "@mlrb/formats/read-format";
import type { TypeOf } from "@mlrb/formats/schema";
import { findPython } from "../process/find-python.ts";

/** The answer, which follows `schema`; undefined where the program fails, or without Python on this machine. */
export function askPython<const Schema extends object>(
  program: "local_imports.py" | "syntax_digest.py",
  question: unknown,
  { schema, memory }: { schema: Schema; memory: string },
): TypeOf<Schema> | undefined {
  const path = fileURLToPath(new URL(program, import.meta.url));
  const python = findPython(memory)?.path;
  if (python === undefined) return undefined;
  // -I and -S: load no packages of the user or of the environment
  const options = { input: JSON.stringify(question), encoding: "utf8" } as const;
  const { status, stdout } = spawnSync(python, ["-I", "-S", "-B", path], options);
  return status === 0 ? mustFollow(schema, JSON.parse(stdout), `the answer of ${program}`) : undefined;
}
