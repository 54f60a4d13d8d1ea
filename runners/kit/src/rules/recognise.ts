// Looks for known weights in a submission. Names are not trusted: a tensor is compared with every known tensor of its shape
// or its transposed shape.

import { closeSync, openSync } from "node:fs";
import type { Fingerprint } from "@mlrb/formats/judged/fingerprint";
import type { Safetensors, Tensor } from "../safetensors/safetensors.ts";
import { isReadable, valuesAt } from "../safetensors/safetensors-values.ts";
import { likeness, prepared } from "./correlation.ts";
import { isTelling } from "./fingerprint.ts";
import { positions, transposedPositions } from "./positions.ts";

export type Recognition = {
  /** All telling matrices. */
  looked: number;
  /** Of these, matrices with an unreadable dtype or with too many values that are not finite. */
  unreadable: number;
  matches: { tensor: string; model: string; known: string; correlation: number }[];
};

/** 64 independent normal samples exceed this correlation less than once in 10^15 comparisons. */
export const alike = 0.9;

type Known = { model: string; name: string; values: number[] | undefined };

export function recognise(files: Safetensors[], fingerprints: Fingerprint[]): Recognition {
  const byShape = indexByShape(fingerprints);
  const recognition: Recognition = { looked: 0, unreadable: 0, matches: [] };
  for (const { path, tensors } of files) {
    const file = openSync(path, "r");
    try {
      for (const tensor of tensors) {
        if (!isTelling(tensor)) continue;
        recognition.looked++;
        const answer = recogniseOne(file, tensor, byShape);
        if (answer === "unreadable") recognition.unreadable++;
        else if (answer) recognition.matches.push(answer);
      }
    } finally {
      closeSync(file);
    }
  }
  return recognition;
}

function indexByShape(fingerprints: Fingerprint[]): Map<string, Known[]> {
  const byShape = new Map<string, Known[]>();
  for (const { name: model, tensors } of fingerprints) {
    for (const { name, shape, values } of tensors) {
      const key = shape.join("x");
      const known = { model, name, values: prepared(values) };
      const others = byShape.get(key);
      if (others) others.push(known);
      else byShape.set(key, [known]);
    }
  }
  return byShape;
}

function recogniseOne(file: number, tensor: Tensor, byShape: Map<string, Known[]>) {
  if (!isReadable(tensor.dtype)) return "unreadable";
  const own = valuesAt(file, tensor, positions(tensor.shape));
  if (own.filter(Number.isFinite).length * 2 < own.length) return "unreadable";
  const best = closest(own, byShape.get(tensor.shape.join("x")) ?? []);
  const [rows, columns] = tensor.shape as [number, number];
  const turnedKnown = tensor.shape.length === 2 ? byShape.get(`${columns}x${rows}`) : undefined;
  const turned =
    turnedKnown && closest(valuesAt(file, tensor, transposedPositions([columns, rows])), turnedKnown);
  const found = [best, turned].find((candidate) => candidate && candidate.correlation > alike);
  return found && { tensor: tensor.name, ...found };
}

/** The known tensor that is most alike; a sign turned round changes nothing about where weights come from. */
function closest(own: number[], known: Known[]) {
  const values = prepared(own);
  let best: { model: string; known: string; correlation: number } | undefined;
  for (const candidate of known) {
    if (!values || !candidate.values) continue;
    const strength = Math.abs(likeness(values, candidate.values));
    if (!best || strength > best.correlation)
      best = { model: candidate.model, known: candidate.name, correlation: strength };
  }
  return best;
}
