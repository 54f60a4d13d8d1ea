// Computes the digests of Python files' syntax trees with Python; see syntax_digest.py.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { mustFollow } from "@mlrb/formats/read-format";
import { syntaxAnswer } from "@mlrb/formats/stage/python-answers";
import { findPython } from "../process/find-python.ts";

const script = fileURLToPath(new URL("./syntax_digest.py", import.meta.url));

/**
 * Returns one digest for each path, undefined where a file does not parse. Returns undefined without Python on this
 * machine; the caller then uses the bytes of the files.
 */
export function syntaxDigests(paths: string[], memory: string): (string | undefined)[] | undefined {
  const python = findPython(memory);
  if (!python) return undefined;
  // -I and -S: load no packages of the user or of the environment
  const answer = spawnSync(python.path, ["-I", "-S", script], {
    input: JSON.stringify(paths),
    encoding: "utf8",
  });
  if (answer.status !== 0) return undefined;
  const digests = mustFollow(syntaxAnswer, JSON.parse(answer.stdout), "the answer of syntax_digest.py");
  return paths.map((path) => digests[path] ?? undefined);
}
