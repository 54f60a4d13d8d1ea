// What a program that an agent ran was for, by its command line or its code. A guess from words: no rule can know
// what `python run.py` does, so what it prints has a say too (printed-values.ts).
export type CommandKind = "train" | "evaluate" | "data" | "write" | "look" | "other";

const looks =
  /^\s*(ls|cat|head|tail|wc|find|grep|rg|pwd|nvidia-smi|du|df|tree|which|file|stat|free|top|ps)\b/;
const trains =
  /\b(pre)?train\w*|fine-?tun|\bfit\(|\.backward\(|\bmerge|\bprun|\bcompress|\bdistil|\bquanti[sz]|torchrun|accelerate launch|--epochs|\blora\b/i;
const evaluates = /\beval\w*|\blm[_-]eval|\bscor(e|ing)\b|\bbench|perplexity|\bvalidat|\btest_\w+|\bmeasure/i;
const prepares = /\bprepare|\bpreproc|\btokeni[sz]e|\bdownload|\bdataset|\bdata\//i;
const writes = /(^|[;&|\n]\s*)(cat|echo|printf|tee)\b[^\n]*>|\bsed\s+-i|<<\s*['"]?\w+|\bpatch\s|git apply/;

/** A file's text in the command that writes it: that does not run. `python - <<EOF` does. */
const writtenDown = /(\b(?:cat|tee)\b[^\n]*<<-?\s*['"]?(\w+)['"]?)[\s\S]*?\n\2\b/g;

const textMax = 20_000;

/** A command may do several things: training says more of it than evaluating, that more than reading data. */
export function commandKind(text: string): CommandKind {
  const part = text.slice(0, textMax);
  if (looks.test(part) && !/[;&|\n]\s*(python|bash|sh|torchrun)/.test(part)) return "look";
  const script = part.replace(writtenDown, "$1");
  if (trains.test(withoutFileArguments(script))) return "train";
  if (evaluates.test(script)) return "evaluate";
  if (writes.test(part)) return "write";
  return prepares.test(script) ? "data" : "other";
}

/** `eval.py data/train.jsonl` does not train. */
function withoutFileArguments(text: string): string {
  return text.replace(/\S+\.(jsonl?|csv|txt|parquet|arrow|md|log|yaml)\b/g, "");
}

/** Whether the command evaluates too, e.g. `python train.py && python eval.py`. */
export function alsoEvaluates(text: string): boolean {
  return evaluates.test(text.slice(0, textMax));
}
