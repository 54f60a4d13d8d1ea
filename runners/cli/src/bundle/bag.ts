// The layout of an evidence bundle: a bag of BagIt (RFC 8493), so that `sha256sum -c` checks it without this
// program. Pure: no disk, no clock.
import { hash } from "node:crypto";

/** A bag unpacks into one folder. */
export const bagFolder = "evidence";
export const payload = "data/";
export const manifestName = "manifest-sha256.txt";
const tagManifestName = "tagmanifest-sha256.txt";

/** SHA-256 by path. */
export type Digests = ReadonlyMap<string, string>;

/** The names of bundled files: no name leads out of a folder. */
const pathPattern = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.+=-]+(?:\/[\w.+=-]+){0,3}$/;

/** `path`: below data/. */
export function isBundlePath(path: string): boolean {
  return path.length < 100 && pathPattern.test(path);
}

export function sha256Of(content: Buffer | string): string {
  return hash("sha256", content);
}

/** The files beside data/, in the order of the archive. `files`: of data/. There is no date: it would change the bytes. */
export function tagFiles(
  files: readonly { path: string; bytes: number; sha256: string }[],
): Map<string, string> {
  const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
  const tags = new Map([
    ["bagit.txt", "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"],
    ["bag-info.txt", `Bag-Software-Agent: mlrb\nPayload-Oxum: ${bytes}.${files.length}\n`],
    [manifestName, manifestText(files.map(({ path, sha256 }) => [`${payload}${path}`, sha256]))],
  ]);
  tags.set(tagManifestName, manifestText([...tags].map(([name, text]) => [name, sha256Of(text)])));
  return tags;
}

function manifestText(digests: [path: string, sha256: string][]): string {
  return digests.map(([path, sha256]) => `${sha256}  ${path}\n`).join("");
}

/** What is wrong with an unpacked bag, a line for each file. `found`: of all its files; `textOf`: of a manifest. */
export function bagProblems(found: Digests, textOf: (name: string) => string): string[] {
  for (const name of ["bagit.txt", manifestName, tagManifestName])
    if (!found.has(name)) return [`${name}: there is no such file in the bundle`];
  const isTag = (name: string) => !name.startsWith(payload);
  const tags = [...found].filter(([name]) => isTag(name) && name !== tagManifestName);
  const data = [...found].filter(([name]) => !isTag(name));
  return [
    ...manifestProblems(tagManifestName, textOf(tagManifestName), new Map(tags)),
    ...manifestProblems(manifestName, textOf(manifestName), new Map(data)),
  ];
}

function manifestProblems(manifest: string, text: string, found: Digests): string[] {
  const listed = new Map<string, string>();
  for (const line of text.split("\n").slice(0, -1)) {
    const [, sha256, path] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    if (sha256 === undefined || path === undefined || listed.has(path))
      return [`${manifest}: ${line.slice(0, 200)} is no line of a manifest, or the second one of a file`];
    listed.set(path, sha256);
  }
  const names = [...new Set([...listed.keys(), ...found.keys()])].sort();
  return names.flatMap((name) => {
    if (!listed.has(name)) return [`${name}: ${manifest} does not list it`];
    if (!found.has(name)) return [`${name}: ${manifest} lists it, and it is not in the bundle`];
    return listed.get(name) === found.get(name) ? [] : [`${name}: its SHA-256 is not that in ${manifest}`];
  });
}
