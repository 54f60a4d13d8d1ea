// Checks the download gateway of sealed attempts without an agent: a program in the sandbox gets a small file of a model
// as locked, and is refused one of an evaluation set. Where attempts have no gateway there is nothing to check. Which
// rows the gateway withholds is decided by `withheld`, not here.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { downloadsFrom } from "@mlrb/agents/hub/downloads-request";
import { type TriedFile, tryDownloads } from "@mlrb/agents/hub/try-downloads";
import { chooseSandbox } from "@mlrb/agents/sandbox/choose-sandbox";
import { SandboxTrouble } from "@mlrb/agents/sandbox/sandbox-trouble";
import { dockerWalls } from "@mlrb/docker/docker-walls";
import { sourceManifest } from "@mlrb/formats/declared/source";
import { sourceLock } from "@mlrb/formats/declared/source-lock";
import type { HostCheck } from "@mlrb/formats/judged/host-check";
import { mustFollow } from "@mlrb/formats/read-format";
import type { Withheld } from "@mlrb/formats/stage/withheld";
import { writeJson } from "@mlrb/kit/json-file";
import { sourceFile, sourceFiles } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";
import { parse } from "yaml";

const { axes, outputs, sandbox: asked } = stage();
const found = asked?.network === "hub" ? await tried() : null;
if (process.exitCode === undefined)
  writeJson(outputs.check!, { formatVersion: 1, found } satisfies HostCheck);

/** What worked; sets the exit status after printing why it did not. */
async function tried(): Promise<string | null> {
  const work = mkdtempSync(join(process.env.MLRB_WORK!, "gateway-"));
  const scratch = join(work, "scratch");
  mkdirSync(join(scratch, "gateway"), { recursive: true });
  let sandbox: Awaited<ReturnType<typeof chooseSandbox>> | undefined;
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const)
    process.once(signal, () => {
      void (sandbox?.close() ?? Promise.resolve()).finally(() => process.exit(143));
    });
  try {
    const { served, withheld } = chosenFiles();
    const { type, repository } = withheld?.source ?? served.source;
    const list: Withheld = {
      formatVersion: 1,
      sources: withheld ? [{ name: "withheld", type, repository, serves: [] }] : [],
      digests: withheld ? [withheld.file.sha256] : [],
      ...{ texts: [], rows: [] },
    };
    const file = join(work, "withheld.json");
    writeJson(file, list);
    const downloads = downloadsFrom({
      ...{ withheld: file, cacheFolder: join(work, "downloads") },
      bytesMax: asked!.limits.diskBytes,
    });
    sandbox = await chooseSandbox(asked, {
      ...{ under: work, agent: String(axes.agent ?? "check"), trusted: false, containers: dockerWalls },
    });
    const place = {
      ...{ python: process.env.MLRB_PYTHON, gpus: asked!.gpus, cpus: asked!.limits.cpus, scratch },
      ownImage: asked!.image !== undefined,
    };
    await tryDownloads(sandbox, { downloads, served, withheld }, place);
    const refused = withheld ? `, and not ${withheld.source.repository}` : "";
    return `${served.source.repository}/${served.file.path} came through the gateway as locked${refused} (${sandbox.kind})`;
  } catch (error) {
    // the last line is what `doctor` shows
    if (!(error instanceof SandboxTrouble)) console.error(error);
    console.error((error as Error).message);
    process.exitCode = 1;
    return null;
  } finally {
    await sandbox?.close();
    rmSync(work, { recursive: true, force: true });
  }
}

/** The smallest locked file of an open model or else another source, and of an evaluation set if one is locked. */
function chosenFiles(): { served: TriedFile; withheld: TriedFile | undefined } {
  const text = readFileSync(sourceFile("sources.lock.yaml"), "utf8");
  const lock = mustFollow(sourceLock, parse(text), "sources.lock.yaml");
  const files = sourceFiles("sources/*.yaml").flatMap((path) => {
    const { name, use } = mustFollow(sourceManifest, parse(readFileSync(path, "utf8")), path);
    const source = lock.sources[name];
    if (source?.kind !== "resolved" || source.gated !== "none") return [];
    return source.files.filter(({ size }) => size > 0).map((file) => ({ use, source, file }));
  });
  files.sort((a, b) => a.file.size - b.file.size);
  const open = files.filter(({ use }) => use !== "evaluation");
  const served = open.find(({ source }) => source.type === "model") ?? open[0];
  if (!served) throw new SandboxTrouble("no open source is locked; type `pnpm pipeline sources lock`");
  return { served, withheld: files.find(({ use }) => use === "evaluation") };
}
