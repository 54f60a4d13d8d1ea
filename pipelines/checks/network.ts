// Checks the network of attempts without an agent: a program in the sandbox downloads a small file of a model, as
// locked. Through the download gateway of sealed attempts it is also refused a file of an evaluation set; which
// rows the gateway withholds is decided by `withheld`, not here. Where attempts have no network there is nothing
// to check.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { downloadsFrom } from "@mlrb/agents/hub/downloads-request";
import { type TriedFile, tryDownloads } from "@mlrb/agents/hub/try-downloads";
import { SandboxTrouble } from "@mlrb/agents/sandbox/sandbox-trouble";
import { prepareInside, runInside, type TriedPlace } from "@mlrb/agents/sandbox/try-sandbox";
import { sourceManifest } from "@mlrb/formats/declared/source";
import { sourceLock } from "@mlrb/formats/declared/source-lock";
import { mustFollow } from "@mlrb/formats/read-format";
import type { Withheld } from "@mlrb/formats/stage/withheld";
import { writeJson } from "@mlrb/kit/json-file";
import { sourceFile, sourceFiles } from "@mlrb/kit/source-file";
import { stage } from "@mlrb/kit/stage";
import { parse } from "yaml";
import { checkInSandbox } from "./check-in-sandbox.ts";

// the full network without an agent: a program inside downloads a locked file from the hub itself
const program = `
import hashlib, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:
    print(hashlib.sha256(answer.read(int(sys.argv[2]) + 1)).hexdigest())
`;

const { params, outputs, sandbox: asked } = stage();
const preset = params.preset as { kind?: string; trusted?: boolean };
// every preset downloads through the gateway; without one a trusted preset's programs run outside a sandbox
const trusted = asked?.network !== "hub" && (preset.kind === "nop" || preset.trusted === true);
if (asked?.network === "hub" || asked?.network === "full")
  await checkInSandbox(trusted, async (sandbox, { place, work }) => {
    const { served, withheld } = chosenFiles();
    const name = `${served.source.repository}/${served.file.path}`;
    if (asked.network === "full") {
      await tryFullNetwork(sandbox, served, { hub: String(params.hub), place });
      return `${name} came from ${params.hub} as locked, over the full network (${sandbox.kind})`;
    }
    mkdirSync(join(place.scratch, "gateway"), { recursive: true });
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
      bytesMax: asked.limits.diskBytes,
    });
    await tryDownloads(sandbox, { downloads, served, withheld }, place);
    const refused = withheld ? `, and not ${withheld.source.repository}` : "";
    return `${name} came through the gateway as locked${refused} (${sandbox.kind})`;
  });
else writeFileSync(outputs.check!, "attempts have no network\n");

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

/** Throws SandboxTrouble if the program does not get the file from `hub` as locked. */
async function tryFullNetwork(
  sandbox: Parameters<typeof runInside>[0],
  { source, file }: TriedFile,
  { hub, place }: { hub: string; place: TriedPlace },
): Promise<void> {
  await prepareInside(sandbox, place);
  const folder = source.type === "dataset" ? "datasets/" : "";
  const path = file.path.split("/").map(encodeURIComponent).join("/");
  const url = `${hub}/${folder}${source.repository}/resolve/${source.revision}/${path}`;
  const argv = [place.python ?? "python3", "-c", program, url, String(file.size)];
  const digest = (await runInside(sandbox, argv, { ...place, env: {} })).trim();
  if (digest !== file.sha256)
    throw new SandboxTrouble(
      `${url} came with SHA-256 ${digest}, locked is ${file.sha256}; does a proxy change answers?`,
    );
}
