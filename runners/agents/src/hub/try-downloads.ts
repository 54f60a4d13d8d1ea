// Tries the download gateway of a sandbox without an agent: an unchanged client asks for a file that is served,
// and for one that is withheld.
import { join } from "node:path";
import type { Sandbox } from "@mlrb/core/ports/sandbox";
import type { LockedFile, LockedSource } from "@mlrb/formats/declared/source-lock";
import { pathInside } from "../sandbox/device-variables.ts";
import { SandboxTrouble } from "../sandbox/sandbox-trouble.ts";
import { prepareInside, runInside, type TriedPlace } from "../sandbox/try-sandbox.ts";
import { agentDownloads } from "./agent-downloads.ts";
import type { DownloadsRequest } from "./downloads-request.ts";

export type TriedFile = { source: LockedSource; file: LockedFile };

const program = `
import hashlib, json, sys
from huggingface_hub import hf_hub_download
for asked in json.loads(sys.argv[1]):
    try:
        path = hf_hub_download(**asked)
        print(hashlib.sha256(open(path, "rb").read()).hexdigest())
    except Exception as error:
        print("refused", str(error).strip().replace("\\n", " ")[:300])
`;

/** Throws SandboxTrouble if the gateway does not serve `served` as locked, or serves `withheld`. */
export async function tryDownloads(
  sandbox: Sandbox,
  {
    downloads,
    served,
    withheld,
  }: { downloads: DownloadsRequest; served: TriedFile; withheld: TriedFile | undefined },
  place: TriedPlace,
): Promise<void> {
  await prepareInside(sandbox, place);
  const scratch = join(place.scratch, "gateway");
  let isWithheld = false;
  const gateway = await agentDownloads(sandbox, downloads, {
    ...{ agent: "check", scratch, path: pathInside(place) },
    write: (event) => {
      if (event.event === "download-refused" && event.cause === "withheld") isWithheld = true;
    },
  });
  try {
    const asked = [served, ...(withheld ? [withheld] : [])].map(({ source, file }) => ({
      ...{ repo_id: source.repository, repo_type: source.type, revision: source.revision },
      filename: file.path,
    }));
    const argv = [place.python ?? "python3", "-c", program, JSON.stringify(asked)];
    const said = await runInside(sandbox, argv, { ...place, env: gateway.env });
    const [first = "", second = "refused"] = said.trim().split("\n");
    if (first !== served.file.sha256)
      throw new SandboxTrouble(
        `the gateway did not serve ${served.source.repository}/${served.file.path} as locked: ${first}; is the hub of HF_ENDPOINT reachable from here?`,
      );
    if (withheld && second.startsWith("refused") && !isWithheld)
      throw new SandboxTrouble(
        `whether the gateway withholds ${withheld.source.repository}/${withheld.file.path} is not known: ${second}`,
      );
    if (!second.startsWith("refused"))
      throw new SandboxTrouble(
        `the gateway served ${withheld?.source.repository}/${withheld?.file.path}, which is withheld; start no sealed attempt, and report it`,
      );
  } finally {
    await gateway.close();
  }
}
