// Guesses the purpose of a command or piece of code that an agent ran, from its words. No rule can know what `python run.py`
// does, so its output is used as well (printed-values.ts). Texts may be hostile: every pattern takes time in proportion to a
// bounded length.
export type CommandKind = "train" | "evaluate" | "data" | "write" | "look" | "other";

/** For a command with several parts, the first kind in this list wins. */
const byWeight: CommandKind[] = ["train", "evaluate", "write", "data", "other", "look"];

const looks =
  /^(ls|cat|head|tail|wc|find|grep|rg|pwd|nvidia-smi|du|df|tree|which|file|stat|free|top|ps|less|diff)$/;
const writesTo = /^(cat|echo|printf|tee)$/;
const writes = /^(patch|cp|mv|truncate)$/;
/** Their arguments say nothing about research. */
const others =
  /^(cd|mkdir|rm|touch|export|source|kill|sleep|pip|pip3|uv|conda|apt|apt-get|git|chmod|set|sudo|ln)$/;
const fetches = /^(wget|curl)$/;

const trains =
  /\b(pre)?train|fine-?tun|\bfit\(|\.backward\(|\bmerge|\bprun|\bcompress|\bdistil|\bquanti[sz]|torchrun|accelerate launch|--epochs|\blora\b/i;
const evaluates = /\beval|\blm[_-]eval|\bscor(e|ing)\b|\bbench|perplexity|\bvalidat|\btest_\w|\bmeasure/i;
const prepares = /\bprepare|\bpreproc|\btokeni[sz]e|\bdownload|\bdataset|\bdata\//i;

const textMax = 20_000;
const partMax = 2_000;

export function commandKind(text: string): CommandKind {
  const kinds = new Set(parts(text).map(partKind));
  return byWeight.find((kind) => kinds.has(kind)) ?? "other";
}

/** Whether it evaluates, perhaps among other things, e.g. `python train.py && python eval.py`. */
export function alsoEvaluates(text: string): boolean {
  return parts(text).some((part) => isProgram(part) && evaluates.test(withoutFiles(part)));
}

/** The commands of a shell text, or lines of code, without the text of here-documents, which does not run. */
function parts(text: string): string[] {
  let until: string | undefined;
  const run = text
    .slice(0, textMax)
    .split("\n")
    .filter((line) => {
      const inside = until !== undefined;
      if (inside && line.trim() === until) until = undefined;
      else if (!inside && /^\s{0,20}(cat|tee)\b/.test(line))
        until = /<<-?\s{0,4}['"]?(\w{1,40})/.exec(line)?.[1];
      return !inside;
    });
  return run
    .flatMap((line) => line.split(/;|&&|\|\|?/))
    .map((part) => withoutWrappers(part.slice(0, partMax)))
    .filter((part) => part !== "");
}

/** `CUDA_VISIBLE_DEVICES=0 nohup python x.py` runs python. */
function withoutWrappers(part: string): string {
  const words = part.trim().split(/\s+/);
  const first = words.findIndex((word) => !/^(\w+=.*|nohup|time|exec|timeout|\d+[smh]?|\()$/.test(word));
  return first < 0 ? "" : words.slice(first).join(" ");
}

const firstWord = (part: string) => part.split(" ", 1)[0]!;

function isProgram(part: string): boolean {
  const word = firstWord(part);
  return ![looks, writesTo, writes, others, fetches].some((known) => known.test(word)) && !isSedInPlace(part);
}

const isSedInPlace = (part: string) => /^sed .{0,40}-i/.test(part);

function partKind(part: string): CommandKind {
  const word = firstWord(part);
  if (writes.test(word) || isSedInPlace(part) || (writesTo.test(word) && part.includes(">"))) return "write";
  if (word === "tee") return "write";
  if (looks.test(word)) return "look";
  if (fetches.test(word)) return "data";
  if (!isProgram(part)) return "other";
  const words = withoutFiles(part);
  if (trains.test(words)) return "train";
  if (evaluates.test(words)) return "evaluate";
  return prepares.test(part) ? "data" : "other";
}

/** `eval.py data/train.jsonl` does not train. */
function withoutFiles(part: string): string {
  return part
    .split(" ")
    .filter((word) => !/\.(jsonl?|csv|txt|parquet|arrow|md|log|yaml)$/.test(word))
    .join(" ");
}
