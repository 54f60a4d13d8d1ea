// Finds code that a loader might run: scripts, compiled code, pickles (a pickle is a program), archives that may hold them,
// and settings that make a loader fetch code or other weights.

import { join } from "node:path";
import { isTable } from "@mlrb/formats/is-table";
import type { AdmissionReason as Reason } from "@mlrb/formats/judged/admission";
import { firstBytes, type SubmittedFile } from "./admission-files.ts";
import { clip } from "./clip.ts";
import { holdsOnlyWords } from "./setting-value.ts";

const endings = new Set(
  (
    "py pyc pyo pyd pyx pyw pyz ipynb so dll dylib exe elf o a wasm class jar js mjs cjs ts sh bash zsh bat cmd ps1 " +
    "pl rb lua r jl pt pth bin pkl pickle ckpt joblib dill npy npz h5 hdf5 keras msgpack onnx pb tflite mlmodel " +
    "whl egg zip tar gz tgz bz2 xz zst 7z rar"
  ).split(" "),
);

const starts: { what: string; bytes: number[] }[] = [
  { what: "a pickle", bytes: [0x80, 0x02] },
  { what: "a pickle", bytes: [0x80, 0x03] },
  { what: "a pickle", bytes: [0x80, 0x04] },
  { what: "a pickle", bytes: [0x80, 0x05] },
  { what: "a zip archive", bytes: [0x50, 0x4b, 0x03, 0x04] },
  { what: "a compiled program", bytes: [0x7f, 0x45, 0x4c, 0x46] },
  { what: "a compiled program", bytes: [0xcf, 0xfa, 0xed, 0xfe] },
  { what: "a Windows program", bytes: [0x4d, 0x5a, 0x90, 0x00] },
  { what: "a script", bytes: [0x23, 0x21] },
  { what: "a gzip archive", bytes: [0x1f, 0x8b] },
  { what: "a NumPy file, which may hold a pickle", bytes: [0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59] },
  { what: "an HDF5 file", bytes: [0x89, 0x48, 0x44, 0x46] },
];

/** Reasons for files that are code or may hold it, by name and by their first bytes. */
export function codeFiles(folder: string, files: SubmittedFile[]): Reason[] {
  const reasons: Reason[] = [];
  for (const { path, bytes } of files) {
    const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
    const ending = name.includes(".") ? name.slice(name.lastIndexOf(".") + 1) : "";
    if (endings.has(ending) || /\.so\.[\d.]+$/.test(name)) {
      reasons.push({
        code: "code",
        detail: `${clip(path)}: files ending in .${ending} may be code or hold it; leave it out`,
      });
      continue;
    }
    // a safetensors file starts with a length, which may look like anything; its header is checked instead
    if (bytes === 0 || ending === "safetensors") continue;
    const first = firstBytes(join(folder, path), 8);
    const start = first && starts.find((known) => known.bytes.every((byte, at) => first[at] === byte));
    if (start) reasons.push({ code: "code", detail: `${clip(path)}: begins as ${start.what}; leave it out` });
  }
  return reasons;
}

const forbidden: Record<string, string> = {
  auto_map: "makes the loader run code that comes with the model",
  trust_remote_code: "makes the loader run code that comes with the model",
  custom_pipelines: "makes the loader run code that comes with the model",
  transformers_weights: "makes the loader take other weights than those that are checked",
};

/** Reasons for settings, at any depth, that make a loader run code or load other weights. */
export function codeSettings(file: string, settings: unknown): Reason[] {
  const reasons: Reason[] = [];
  const pending: unknown[] = [settings];
  while (pending.length > 0) {
    const value = pending.pop();
    if (Array.isArray(value)) {
      for (const item of value) pending.push(item);
      continue;
    }
    if (!isTable(value)) continue;
    for (const [key, inner] of Object.entries(value)) {
      pending.push(inner);
      if (Object.hasOwn(forbidden, key))
        reasons.push({ code: "code", detail: `${file}: ${key} ${forbidden[key]}; remove it` });
      // a name with a slash is a repository of compiled kernels, alone or in a table with an entry for each part
      if (key.includes("attn_implementation") && !holdsOnlyWords(inner))
        reasons.push({ code: "code", detail: `${file}: ${clip(key)} names code to be fetched; remove it` });
    }
  }
  return reasons;
}
