// A pipeline written as a program: pipelines/NAME.ts default-exports the data that a YAML file would hold. It is
// converted to YAML and checked like YAML, and a problem is shown with its place in that YAML.
import { hash } from "node:crypto";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Sources } from "@mlrb/core/spec/manifest";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";
import type { Consulted } from "@mlrb/local/decide/consulted-files";

/**
 * Returns `sources` in which a scripted pipeline's file reads as YAML; for other files `sources` itself. Notes the
 * program in `consulted`: it may read any file, so only its data tells whether it would give the same again.
 */
export async function withScripted(
  repository: string,
  file: string,
  sources: Sources,
  consulted?: Consulted,
): Promise<Sources | Diagnostic> {
  if (!file.endsWith(".ts")) return sources;
  const problem = (message: string): Diagnostic => ({
    code: "scripted-pipeline",
    message: `${file}: ${message}`,
    help: "its default export must be the data that a YAML pipeline holds",
  });
  consulted?.programs.set(file, "");
  let text: string;
  try {
    const data = await exportedBy(repository, file);
    if (data === undefined) return problem("has no default export");
    consulted?.programs.set(file, digestOf(data));
    const { stringify } = await import("yaml");
    text = stringify(JSON.parse(data));
  } catch (error) {
    return problem(`cannot be loaded: ${(error as Error).message}`);
  }
  return { ...sources, read: (path) => (path === file ? text : sources.read(path)) };
}

/** Whether each program, run again, gives the data with this digest. */
export async function giveTheSame(repository: string, programs: Record<string, string>): Promise<boolean> {
  for (const [file, digest] of Object.entries(programs)) {
    const data = await exportedBy(repository, file).catch(() => undefined);
    if (data === undefined || digestOf(data) !== digest) return false;
  }
  return true;
}

/** JSON, which drops functions and other values that YAML cannot hold; undefined without a default export. */
async function exportedBy(repository: string, file: string): Promise<string | undefined> {
  const module = (await import(pathToFileURL(join(repository, file)).href)) as { default?: unknown };
  return module.default === undefined ? undefined : (JSON.stringify(module.default) ?? "null");
}

const digestOf = (data: string) => hash("sha256", data);
