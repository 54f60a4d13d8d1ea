// Whether a text is only a drawing as Graphviz makes it. The page puts it in without escaping, and a bundle comes from
// another person.
const tags = "svg|g|title|desc|path|polygon|polyline|ellipse|circle|rect|line|text|tspan|a|defs|marker";
const named = new RegExp(`^</?(?:${tags})(?:\\s+[\\w:-]+="[^"<>]*")*\\s*/?>$`);

/** True for an SVG of shapes, texts and links within the page. */
export function isPlainDrawing(svg: string): boolean {
  const rest = svg.replace(/<!--[^<>]*-->/g, "");
  const found = rest.match(/<[^<>]*>?/g) ?? [];
  return (
    rest.startsWith("<svg") &&
    found.every((tag) => named.test(tag)) &&
    !/\son\w+\s*=|url\(|@import/i.test(found.join("")) &&
    [...found.join("").matchAll(/\shref="([^"]*)"|\sxlink:href="([^"]*)"/g)].every(([, plain, linked]) =>
      (plain ?? linked)!.startsWith("#"),
    )
  );
}
