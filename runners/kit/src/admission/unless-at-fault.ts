// Says whose fault an unexpected error on a submission's content is, as guarded.py does for Python (ADR 37). A
// failed stage is "not measured", which an agent must not be able to choose.
import { mkdirSync, mkdtempDisposableSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Admission } from "@mlrb/formats/judged/admission";

const ofMachine = new Set(["ENOSPC", "EDQUOT", "EIO", "EMFILE", "ENFILE", "ENOMEM", "EROFS"]);

/** Judges a submission and writes what scorers load of it. */
type Act = (folder: string, to: string[]) => Admission;

/**
 * The admission by `act`, which writes to `to`, empty folders. A rejection, with `to` empty, if it throws twice
 * and not on a known-good submission. Throws where the machine or the code is at fault.
 */
export function unlessAtFault(folder: string, to: string[], act: Act): Admission {
  for (let first = true; ; first = false) {
    try {
      return act(folder, to);
    } catch (error) {
      if (ofMachine.has((error as NodeJS.ErrnoException).code ?? "")) throw error;
      for (const path of to)
        for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true });
      if (first) tryGood(error, to, act);
      else
        return rejection(
          [folder, ...to].reduce((text, path) => text.replaceAll(path, "submission"), `${error}`),
        );
    }
  }
}

function rejection(words: string): Admission {
  const detail = `it cannot be read, and a known-good one can: ${words.slice(0, 300)}`;
  return { formatVersion: 1, admitted: false, reasons: [{ code: "unreadable", detail }] };
}

function tryGood(error: unknown, to: string[], act: Act): void {
  using place = mkdtempDisposableSync(join(tmpdir(), "mlrb-control-"));
  try {
    const folders = ["good", ...to.keys()].map((name) => join(place.path, String(name)));
    for (const path of folders) mkdirSync(path);
    for (const [name, text] of Object.entries(good)) writeFileSync(join(folders[0]!, name), text);
    act(folders[0]!, folders.slice(1));
  } catch (own) {
    throw new Error(
      `${error}\n  help: a known-good submission fails too: ${own}; repair this machine or the code`,
    );
  }
}

const header = '{"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}';
const good = {
  "model.safetensors": `${String.fromCharCode(header.length)}${"\0".repeat(7)}${header}0`,
  "config.json": '{"model_type":"gpt2"}',
  "tokenizer.json": "{}",
};
