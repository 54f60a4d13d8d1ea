// A package index (PEP 503 and PEP 691) as the supervisor reads it, and the page that pip and uv get: the same
// files, all from the gateway.
import { isTable } from "@mlrb/formats/is-table";
import { Parser } from "htmlparser2";
import { LRUCache } from "lru-cache";
import PQueue from "p-queue";
import { fetchUpstream, NotServed } from "./fetch-upstream.ts";
import { besideHub, encodedPath } from "./hub-request.ts";

/** `metadata`: SHA-256 of its metadata, which the index has as a file of its own. */
export type PackageFile = ReturnType<typeof filesOfJson>[number];

const pageBytesMax = 64 << 20;
/** Pages that are read at once: a page takes many times its size while it is read. */
const readingMax = 2;
/** Pages that are kept, and their characters in all. */
const pagesMax = 50;
const keptCharactersMax = 128 << 20;
const sha256 = /^[0-9a-f]{64}$/;

export class PackageIndex {
  readonly #simple: URL;
  readonly #signal: AbortSignal;
  /** As JSON, which has no part of the page that it was read from, and a known size. */
  readonly #pages = new LRUCache<string, string>({
    ...{ max: pagesMax, maxSize: keptCharactersMax, sizeCalculation: ({ length }) => length },
  });
  readonly #reading = new Map<string, Promise<PackageFile[]>>();
  readonly #queue = new PQueue({ concurrency: readingMax });

  /** `simple` as in PIP_INDEX_URL. */
  constructor(simple: string, signal: AbortSignal) {
    this.#simple = new URL(simple.replace(/\/*$/, "/"));
    this.#signal = signal;
  }

  /** Its files that have a SHA-256; others cannot be verified. Equal requests share one page. */
  async files(name: string): Promise<PackageFile[]> {
    const page = this.#pages.get(name);
    if (page !== undefined) return JSON.parse(page) as PackageFile[];
    return await this.#reading.getOrInsertComputed(name, () =>
      this.#queue.add(() => this.#ask(name)).finally(() => this.#reading.delete(name)),
    );
  }

  async file(name: string, file: string): Promise<PackageFile> {
    const found = (await this.files(name)).find((one) => one.name === file);
    if (!found) throw new NotServed("not-there", `the index has no file ${file} of ${name}`);
    return found;
  }

  async #ask(name: string): Promise<PackageFile[]> {
    this.#signal.throwIfAborted();
    const accept = "application/vnd.pypi.simple.v1+json, text/html;q=0.5";
    const asked = new URL(`${encodeURIComponent(name)}/`, this.#simple);
    const { text, headers, url } = await fetchUpstream(asked, {
      ...{ headers: { accept }, bytesMax: pageBytesMax, signal: this.#signal },
    });
    const isJson = headers["content-type"]?.includes("json") ?? false;
    const { origin } = this.#simple;
    const files = (isJson ? filesOfJson(text, url) : filesOfHtml(text, url)).filter(
      ({ url: at }) => at.startsWith("https:") || new URL(at).origin === origin,
    );
    this.#pages.set(name, JSON.stringify(files));
    return files;
  }
}

export function filesOfJson(text: string, base: URL) {
  const page: unknown = JSON.parse(text);
  const listed = isTable(page) && Array.isArray(page.files) ? page.files : [];
  return listed.flatMap((entry) => {
    if (!isTable(entry)) return [];
    const { filename, url, hashes, yanked } = entry;
    const requires = entry["requires-python"];
    const about = entry["core-metadata"] ?? entry["dist-info-metadata"];
    const at = typeof url === "string" ? URL.parse(url, base) : null;
    const digest = isTable(hashes) ? hashes.sha256 : undefined;
    if (!at || typeof filename !== "string" || typeof digest !== "string" || !sha256.test(digest)) return [];
    const metadata = isTable(about) && typeof about.sha256 === "string" ? about.sha256 : undefined;
    return {
      ...{ name: filename, url: at.href, sha256: digest },
      ...(typeof requires === "string" && { requiresPython: requires }),
      ...(yanked !== undefined && yanked !== false && { yanked: typeof yanked === "string" ? yanked : "" }),
      ...(metadata !== undefined && sha256.test(metadata) && { metadata }),
    };
  });
}

export function filesOfHtml(text: string, base: URL): PackageFile[] {
  const files: PackageFile[] = [];
  const parser = new Parser({
    onopentag(tag, attributes) {
      const at = tag === "a" && attributes.href !== undefined ? URL.parse(attributes.href, base) : null;
      const digest = /^#sha256=([0-9a-f]{64})$/.exec(at?.hash ?? "")?.[1];
      if (!at || digest === undefined) return;
      at.hash = "";
      const requires = attributes["data-requires-python"];
      const about = attributes["data-core-metadata"] ?? attributes["data-dist-info-metadata"];
      const metadata = /^sha256=([0-9a-f]{64})$/.exec(about ?? "")?.[1];
      files.push({
        ...{ name: decodeURIComponent(at.pathname.split("/").at(-1)!), url: at.href, sha256: digest },
        ...(requires !== undefined && { requiresPython: requires }),
        ...(attributes["data-yanked"] !== undefined && { yanked: attributes["data-yanked"] }),
        ...(metadata !== undefined && { metadata }),
      });
    },
  });
  parser.end(text);
  return files;
}

/** The page of one package, whose links lead to the gateway. */
export function indexPage(name: string, files: PackageFile[]): string {
  const links = files.map((file) => {
    const href = `/${encodedPath([besideHub, "packages", name, file.name])}#sha256=${file.sha256}`;
    const attributes = {
      href,
      "data-requires-python": file.requiresPython,
      "data-yanked": file.yanked,
      "data-core-metadata": file.metadata && `sha256=${file.metadata}`,
      "data-dist-info-metadata": file.metadata && `sha256=${file.metadata}`,
    };
    const written = Object.entries(attributes).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}="${escaped(value)}"`],
    );
    return `<a ${written.join(" ")}>${escaped(file.name)}</a><br>`;
  });
  return `<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.0"><title>${escaped(name)}</title></head><body>\n${links.join("\n")}\n</body></html>\n`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
