import { closedObject, text } from "@mlrb/formats/schema";
import { programResult } from "../program-result.ts";
import { keptNumber, refused, tool } from "../tool.ts";

/** Runs inside the sandbox, so it reaches what the agent's programs reach and no more. */
const program = `
import html.parser, re, sys, urllib.request

MAX = 8 << 20

class Text(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts, self.hidden = [], 0
    def handle_starttag(self, tag, attributes):
        self.hidden += tag in ("script", "style", "head")
        if tag in ("p", "br", "div", "li", "tr", "h1", "h2", "h3", "h4", "pre"):
            self.parts.append("\\n")
    def handle_endtag(self, tag):
        self.hidden -= tag in ("script", "style", "head") and self.hidden > 0
    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)

request = urllib.request.Request(sys.argv[1], headers={"User-Agent": "research-agent"})
try:
    with urllib.request.urlopen(request, timeout=60) as answer:
        body, kind = answer.read(MAX), answer.headers.get_content_type()
        charset = answer.headers.get_content_charset() or "utf-8"
except Exception as error:
    print(f"{type(error).__name__}: {error}")
    sys.exit(1)
try:
    text = body.decode(charset, "replace")
except LookupError:
    text = body.decode("utf-8", "replace")
if "\\0" in text:
    print(f"{kind}, {len(body)} bytes: no text; download it with a program")
    sys.exit(1)
if kind == "text/html":
    reader = Text()
    reader.feed(text)
    text = re.sub(r"\\s*\\n\\s*", "\\n", "".join(reader.parts)).strip()
print(text)
`;

export const fetchUrl = tool({
  name: "fetch_url",
  description:
    "Fetches a page and gives its text. For papers: https://api.semanticscholar.org/graph/v1/paper/search?query=WORDS&fields=title,year,abstract,url " +
    "or https://export.arxiv.org/api/query?search_query=all:WORDS; for code: https://api.github.com/search/repositories?q=WORDS",
  input: closedObject(
    { url: { ...text, maxLength: 4_000, description: "Begins with http:// or https://." } },
    ["url"],
  ),
  kept: keptNumber,
  async run({ url }, world) {
    if (!/^https?:\/\/[^\s\0]+$/i.test(url))
      return refused(`${JSON.stringify(url.slice(0, 200))} is no http(s) address`);
    const number = ++world.files.count;
    const argv = ["python3", "-c", program, url];
    const result = await programResult(world, { argv, limitSeconds: 120, number });
    return { ...result, executed: false };
  },
});
