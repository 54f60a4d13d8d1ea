// What a sealed attempt may download, from its stage's inputs and variables.
import { readCollected } from "@mlrb/kit/collected";

export type DownloadsRequest = ReturnType<typeof downloadsFrom>;

/** Of one file. */
const fileBytesMax = 64 * 2 ** 30;
/** Space that stays free on the disk of the cache. */
const freeBytesMin = 10 * 2 ** 30;
/** Repositories of code, as owner/name; * is any name. */
const codeAllowed = ["EleutherAI/lm-evaluation-harness", "huggingface/*", "arcee-ai/mergekit", "karpathy/*"];

/**
 * `manifest`: of the collected stage that says what is withheld. `bytesMax`: of all files of the attempt. Throws
 * if nothing says what is withheld: an attempt must not start without it.
 */
export function downloadsRequest(manifest: string | undefined, bytesMax: number): DownloadsRequest {
  const member = manifest === undefined ? undefined : readCollected(manifest).members[0];
  const withheld = member?.artifacts.withheld?.path;
  if (withheld === undefined) {
    const cause =
      member === undefined ? "no stage is collected" : `${member.stage}: ${member.cause || member.outcome}`;
    throw new Error(
      `network: hub, and nothing says which evaluation data is withheld (${cause}); ` +
        "collect an output `withheld` (pipelines/steps/withheld.ts), and run its stage too",
    );
  }
  const { MLRB_DOWNLOADS } = process.env;
  if (!MLRB_DOWNLOADS) throw new Error("network: hub needs MLRB_DOWNLOADS, a folder for downloaded files");
  return downloadsFrom({ withheld, bytesMax, cacheFolder: MLRB_DOWNLOADS });
}

/** `cacheFolder`: of all attempts of the state folder. From the servers that this process' variables name. Throws if an address holds a password. */
export function downloadsFrom(given: { withheld: string; bytesMax: number; cacheFolder: string }) {
  const { HF_ENDPOINT, PIP_INDEX_URL, MLRB_CODE_HOST } = process.env;
  return {
    servers: {
      hub: server("HF_ENDPOINT", HF_ENDPOINT || "https://huggingface.co"),
      packages: server("PIP_INDEX_URL", PIP_INDEX_URL || "https://pypi.org/simple"),
      code: server("MLRB_CODE_HOST", MLRB_CODE_HOST || "https://codeload.github.com"),
    },
    codeAllowed,
    limits: { fileBytesMax, freeBytesMin },
    ...given,
  };
}

/** The gateway shows agents what everyone may read: an address with a password would show them more. */
function server(variable: string, address: string): string {
  const url = URL.parse(address);
  if (url && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "") return address;
  throw new Error(
    `network: hub needs ${variable} to be an http or https address without a user name and password; set it to a public server, or unset it`,
  );
}
