// At a terminal, offers to lock and to accept the sources that a run would download, where nothing else is missing:
// so a first run on official data is one command. Elsewhere the refusal names both commands.
import { saysYes } from "../gates/cost-gate.ts";
import type { DeclaredSource } from "./declared-sources.ts";
import { bytesWords } from "./source-words.ts";
import { sourcesAccept } from "./sources-accept.ts";
import { sourcesLock } from "./sources-lock.ts";

/** Whether all are locked and accepted now. */
export async function sourcesAgreed(
  repository: string,
  sources: DeclaredSource[],
  root: string,
): Promise<boolean> {
  const names = sources.map(({ manifest }) => manifest.name);
  const open = sources.filter(({ state }) => state.kind !== "resolved");
  const place = { root, json: false };
  if (open.length > 0) {
    const all = open.map((one) => `${one.manifest.name} (${bytesWords(one)})`).join(", ");
    const question = `This run downloads ${all}. Look up their commits and files on the hub, and write them to sources.lock.yaml?`;
    if (!(await saysYes(question))) return false;
    if ((await sourcesLock(repository, names, { ...place, update: false })) !== 0) return false;
  }
  return (await sourcesAccept(repository, names, { ...place, yes: false })) === 0;
}
