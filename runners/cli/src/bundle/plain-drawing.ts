// Whether a text is only a drawing as Graphviz makes it. The page puts it in without escaping, and a bundle comes
// from another person.
const tags = "svg|g|title|desc|path|polygon|polyline|ellipse|circle|rect|line|text|tspan|a|defs|marker";
const named = new RegExp(`^</?(?:${tags})(?:\\s+[\\w:-]+="[^"<>]*")*\\s*/?>$`);

/** True for an SVG of shapes, texts and links within the page. */
export function isPlainDrawing(svg: string): boolean {
  const rest = svg.replace(/<!--[^<>]*-->/g, "");
  const found = rest.match(/<[^<>]*>?/g) ?? [];
  return (
    rest.startsWith("<svg") &&
    found.every((tag) => named.test(tag)) &&
    [...found.join("").matchAll(/\s([\w:-]+)="([^"]*)"/g)].every(([, name, value]) =>
      isPlainAttribute(name!.toLowerCase(), value!),
    )
  );
}

/** Browsers read names in any case, and values after they decode `&` and, in styles, backslashes. */
function isPlainAttribute(name: string, value: string): boolean {
  if (/^(xlink:)?title$/.test(name)) return true;
  if (/^on|^style$|^ping$/.test(name) || /[&\\]|url\(/i.test(value)) return false;
  return !name.endsWith("href") || value.startsWith("#");
}
