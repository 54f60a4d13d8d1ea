// Pins Dockerfiles: pulls each base that has no digest and writes its digest behind its name. Until then, the
// benchmark refuses the image. docs/machines.md
//   node scripts/pin-images.ts [images/agent/Dockerfile …]
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { unpinnedBases } from "@mlrb/core/spec/image-reference";
import { type ContainerEngine, containerEngine } from "@mlrb/docker/container-engine";

const repository = join(import.meta.dirname, "..");
const pullMs = 3_600_000;

/** The Dockerfiles of the repository, as paths from its root. */
export function dockerfiles(root: string = repository): string[] {
  return globSync("{images,pipelines,scorers,tasks}/**/{Dockerfile,*.Dockerfile}", { cwd: root }).sort();
}

type Pinned = { text: string; pinned: string[]; problems: string[] };

/** The text with a digest behind each base that `engine` can pull. */
export async function pinBases(
  text: string,
  engine: Pick<ContainerEngine, "call" | "program">,
): Promise<Pinned> {
  const done: Pinned = { text, pinned: [], problems: [] };
  for (const base of new Set(unpinnedBases(text))) {
    const digest = base.includes("$")
      ? { problem: "its name has a variable; write the name itself" }
      : await digestOf(base, engine);
    if (typeof digest !== "string") {
      done.problems.push(`${base}: ${digest.problem}`);
      continue;
    }
    const name = base.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    done.text = done.text.replace(new RegExp(`(?<=[\\s=])${name}(?=\\s|$)`, "g"), `${base}@${digest}`);
    done.pinned.push(`${base}@${digest}`);
  }
  return done;
}

/** The digest by which its registry knows an image. */
async function digestOf(
  base: string,
  { call, program }: Pick<ContainerEngine, "call" | "program">,
): Promise<string | { problem: string }> {
  const pulled = await call(["pull", "--quiet", base], { timeMs: pullMs });
  if (!pulled.ok) return { problem: `${program} cannot pull it: ${pulled.trouble.detail}` };
  const asked = await call(["image", "inspect", "--format", "{{json .RepoDigests}}", base]);
  if (!asked.ok) return { problem: asked.trouble.detail };
  const known = (JSON.parse(asked.stdout) as string[] | null) ?? [];
  const name = base.replace(/:[^/:]*$/, "");
  // an engine can write out the registry that the name leaves out
  const found = known.map((one) => one.split("@")).find(([of]) => of === name || of?.endsWith(`/${name}`));
  return found?.[1] ?? { problem: `${program} names no digest of it; was it built here?` };
}

if (import.meta.main) {
  const engine = await containerEngine();
  if ("trouble" in engine) {
    console.error(`mlrb: ${engine.trouble.detail}`);
    process.exit(1);
  }
  const named = process.argv.slice(2);
  for (const path of named.length > 0 ? named : dockerfiles().map((one) => join(repository, one))) {
    const { text, pinned, problems } = await pinBases(readFileSync(path, "utf8"), engine);
    if (pinned.length > 0) writeFileSync(path, text);
    for (const one of pinned) console.log(`${path}: ${one}`);
    for (const one of problems) console.error(`${path}: ${one}`);
    if (problems.length > 0) process.exitCode = 1;
  }
}
