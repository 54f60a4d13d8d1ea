// Counts product lines: neither blank nor only comment, without tests, what only tests use, and benches. By hand:
//   node scripts/product-lines.ts
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gitIn } from "./suite/changed-files.ts";

const repository = resolve(import.meta.dirname, "..");
const product = /\.(?:ts|js|mjs|py|sh|css|html)$/;
const others =
  /\.test\.ts$|(?:^|\/)test_[^/]*\.py$|(?:^|\/)(?:testing|tests|fixtures|golden)\/|^scripts\/bench\//;

export function isProduct(path: string): boolean {
  return product.test(path) && !others.test(path);
}

/** The number of lines of a text in a file of this name that are neither blank nor only comment. */
export function productLines(name: string, text: string): number {
  const isScript = /\.(?:py|sh)$/.test(name);
  let inComment = false;
  return text.split("\n").filter((whole) => {
    const line = whole.trim();
    if (isScript) return line !== "" && !line.startsWith("#");
    if (!inComment && !/^(?:\/\*|<!--)/.test(line)) return line !== "" && !line.startsWith("//");
    const end = /(?:\*\/|-->)(.*)$/.exec(line);
    inComment = end === null;
    return end !== null && end[1]!.trim() !== "";
  }).length;
}

/** Product lines of each package: a folder of runners, or another folder at the top. Most first. */
export function linesByPackage(): [name: string, lines: number][] {
  const sums = new Map<string, number>();
  for (const path of gitIn(repository)("ls-files").filter(isProduct)) {
    const [top = "", second = ""] = path.split("/");
    const name = top === "runners" ? `${top}/${second}` : top;
    sums.set(name, (sums.get(name) ?? 0) + productLines(path, readFileSync(join(repository, path), "utf8")));
  }
  return [...sums].sort(([, a], [, b]) => b - a);
}

export function linesTable(found: [string, number][]): string {
  const total = found.reduce((sum, [, lines]) => sum + lines, 0);
  return [...found, ["all", total] as const]
    .map(([name, lines]) => [String(lines).padStart(7), name].join("  "))
    .join("\n");
}

if (import.meta.main) console.log(linesTable(linesByPackage()));
