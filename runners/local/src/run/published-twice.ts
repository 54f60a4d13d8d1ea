// Finds published files that would overwrite each other: two files of one name, also where a disk ignores case,
// and a file where another needs a folder. The contents of folders are known only after their stages have run.
// Pure: no disk.
import { sameOnDisk } from "@mlrb/core/spec/check-published";
import type { Diagnostic } from "@mlrb/core/yaml/diagnostic";

/** `by`: the stage and the output of the file. */
export type PublishedFile = { path: string; digest: string; by: string };

/** Digests by path. Omits all files that clash: the runner cannot know which one to keep. */
export function withoutClashes(published: readonly PublishedFile[]): {
  files: Map<string, string>;
  problems: Diagnostic[];
} {
  const at = Map.groupBy(published, ({ path }) => sameOnDisk(path));
  const problems: Diagnostic[] = [];
  const clashing = new Set<string>();
  const clash = (names: string[], what: string, by: string[]) => {
    for (const name of names) clashing.add(name);
    problems.push({
      code: "published-twice",
      message: `${what} published by ${[...new Set(by)].sort().join(" and ")}; none of them was published`,
      help: "all that is published goes into one folder: give one another name",
    });
  };
  for (const [name, same] of at) {
    if (same.length > 1)
      clash(
        [name],
        `"${same[0]!.path}" is`,
        same.map(({ by }) => by),
      );
    const steps = name.split("/");
    for (let depth = 1; depth < steps.length; depth++) {
      const above = steps.slice(0, depth).join("/");
      const file = at.get(above)?.[0];
      if (!file || clashing.has(name)) continue;
      clash([above, name], `"${file.path}", a file, and "${same[0]!.path}", in a folder of that name, are`, [
        file.by,
        ...same.map(({ by }) => by),
      ]);
    }
  }
  const files = published.filter(({ path }) => !clashing.has(sameOnDisk(path)));
  return { files: new Map(files.map(({ path, digest }) => [path, digest])), problems };
}
