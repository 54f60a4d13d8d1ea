// Tries the full network of a sandbox without an agent: a program inside downloads a locked file from the hub
// itself.
import type { TriedFile } from "@mlrb/agents/hub/try-downloads";
import { SandboxTrouble } from "@mlrb/agents/sandbox/sandbox-trouble";
import { prepareInside, runInside, type TriedPlace } from "@mlrb/agents/sandbox/try-sandbox";

type Sandbox = Parameters<typeof runInside>[0];

const program = `
import hashlib, sys, urllib.request
with urllib.request.urlopen(sys.argv[1], timeout=60) as answer:
    print(hashlib.sha256(answer.read(int(sys.argv[2]) + 1)).hexdigest())
`;

/** Throws SandboxTrouble if the program does not get the file from `hub` as locked. */
export async function tryFullNetwork(
  sandbox: Sandbox,
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
