// Figures as a PDF of one page, from drawings of Observable Plot. The same drawings give the same bytes on every
// machine: the font is in the lock file and embedded, as venues ask; nothing is compressed, because zlib differs
// between processors; the date is fixed.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
// also makes the font's version part of the stage's key
import font from "@fontsource/source-sans-3/metadata.json" with { type: "json" };
import type { Report } from "@mlrb/formats/report";
import * as Plot from "@observablehq/plot";
import PDFDocument from "pdfkit";
import drawSvg from "svg-to-pdfkit";
import { agentLooks, clipped, drawFigure } from "../page/charts/draw-figure.ts";
import type { Html } from "../page/html.ts";
import { isAuthored, labelText } from "../read/condition-words.ts";
import { plainText } from "../read/plain-text.ts";
import { displayNames } from "./display-names.ts";

/** 5.5 in, in points of PDF, and in the pixels of the drawings. */
const pageWidth = 396;
export const drawnWidth = 716;
const scale = pageWidth / drawnWidth;

/** Colours that readers with colour blindness tell apart (Okabe and Ito); the agents' shapes are for print in grey. */
const colours: Record<string, string> = {
  ...{ "agent-1": "#0072B2", "agent-2": "#D55E00", "agent-3": "#009E73", "agent-4": "#CC79A7" },
  ...{ "agent-5": "#E69F00", "agent-6": "#56B4E9", accent: "#000000", ground: "#FFFFFF" },
  ...{ rule: "#BBBBBB", line: "#777777", soft: "#777777", bad: "#777777" },
};

/** The agents in a legend, and the drawings below each other, several in a row where they are lists. The title is read by programs and says what the data is. */
export async function figurePdf(report: Report, drawings: (Html | Html[])[]): Promise<Buffer> {
  const rows = [...warning(report), legend(report), ...drawings].map((row) => {
    const parts = [row]
      .flat()
      .map(({ markup }) => ({ markup: printed(markup), width: sizeOf(markup, "width") }));
    return { parts, height: Math.max(...[row].flat().map(({ markup }) => sizeOf(markup, "height"))) };
  });
  const document = new PDFDocument({
    ...{ size: [pageWidth, rows.reduce((sum, { height }) => sum + height, 0)], margin: 0, compress: false },
    ...{ font: null as unknown as string, autoFirstPage: true },
    info: { Title: plainText(`${report.title} (${labelText(report)})`), CreationDate: new Date(0) },
  });
  const pieces: Buffer[] = [];
  document.on("data", (piece: Buffer) => pieces.push(piece));
  const whole = new Promise<Buffer>((resolve) => document.on("end", () => resolve(Buffer.concat(pieces))));
  const file = `@fontsource/source-sans-3/files/${font.id}-latin-400-normal.woff`;
  document.registerFont("sans", readFileSync(fileURLToPath(import.meta.resolve(file))) as never);
  let top = 0;
  for (const { parts, height } of rows) {
    let left = 0;
    for (const { markup, width } of parts) {
      document.save().translate(left, top).scale(scale);
      drawSvg(document, markup, 0, 0, { assumePt: true, fontCallback: () => "sans" });
      document.restore();
      left += width;
    }
    top += height;
  }
  document.end();
  return whole;
}

/** Two in a row. */
export function inPairs(drawn: Html[]): Html[][] {
  return drawn.flatMap((_, at) => (at % 2 === 0 ? [drawn.slice(at, at + 2)] : []));
}

/** In points. */
function sizeOf(markup: string, side: "width" | "height"): number {
  return scale * Number(new RegExp(` ${side}="([\\d.]+)"`).exec(markup)![1]);
}

/** Two agents in a line. */
function legend(report: Report): Html {
  const names = displayNames(report);
  const agents = report.agents.map(({ name }) => name);
  const entries = agents.map((agent, at) => ({ agent, x: at % 2, y: Math.floor(at / 2) }));
  const place = { x: "x", y: "y" };
  const lines = Math.ceil(agents.length / 2);
  return drawFigure("agents", {
    width: drawnWidth,
    height: 20 * lines,
    margin: 0,
    marginLeft: 14,
    x: { domain: [0, 2], axis: null },
    y: { domain: [lines - 0.5, -0.5], axis: null },
    marks: [
      Plot.dot(entries, { ...place, r: 5, ...agentLooks(agents) }),
      Plot.text(entries, {
        ...{ ...place, dx: 12, textAnchor: "start" },
        text: ({ agent }) => clipped(names.agent(agent), 48),
      }),
    ],
  });
}

/** Of authored recordings: what the data is, for readers of the picture alone. */
function warning(report: Report): Html[] {
  if (!isAuthored(report)) return [];
  const marks = [Plot.text([labelText(report)], { frameAnchor: "left" })];
  return [drawFigure("warning", { width: drawnWidth, height: 20, margin: 0, marginLeft: 14, marks })];
}

/** With the colours of paper. Characters that the font lacks are question marks; titles are in full in the tables. */
function printed(markup: string): string {
  return (
    markup
      .replace(/<style>.*?<\/style>/s, "")
      .replaceAll("currentColor", "#000000")
      .replaceAll(/="var\(--([a-z0-9-]+)\)"/g, (_, name: string) => `="${colours[name] ?? "#000000"}"`)
      // the PDF has no order of paint: letters are drawn once more over their background
      .replaceAll(
        /<g [^>]*paint-order="stroke"[^>]*>.*?<\/g>/gs,
        (group) => group + group.replace(/ stroke="[^"]*"/, ""),
      )
      .replaceAll(/[^\n -~\u00a0-\u00ff\u2013\u2212\u2026\u2039\u203a]/gu, "?")
  );
}
