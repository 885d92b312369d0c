// Turns one page of Markdown into HTML, its headings and its words: headings get the anchors that GitHub gives them, links between pages
// lead to the site's pages, and links to other files of the repository become their names, because the site does not hold them.

import { posix } from "node:path";
import MarkdownIt, { type Token } from "markdown-it";
import { addressOf } from "./places.ts";

export interface Heading {
  readonly id: string;
  readonly level: number;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  /** What stands below each heading, for the search. */
  readonly parts: readonly { readonly id: string; readonly heading: string; readonly text: string }[];
}

export interface Neighbours {
  readonly pages: ReadonlySet<string>;
  /** Pictures, which are copied beside the pages. */
  readonly pictures: ReadonlySet<string>;
}

const markdown = new MarkdownIt({ html: true });
markdown.renderer.rules["table_open"] = () => '<div class="wide"><table>\n';
markdown.renderer.rules["table_close"] = () => "</table></div>\n";

export function renderPage(page: string, text: string, neighbours: Neighbours): RenderedPage {
  const tokens = markdown.parse(text, {});
  for (const child of tokens.flatMap(({ children }) => children ?? [])) lead(child, page, neighbours);
  closeFileLinks(tokens);
  const headings = nameHeadings(tokens);
  const html = markdown.renderer.render(tokens, markdown.options, {});
  return { title: headings[0]?.text ?? page, html, headings, parts: partsOf(tokens) };
}

function nameHeadings(tokens: readonly Token[]): readonly Heading[] {
  const taken = new Map<string, number>();
  return tokens.flatMap((token, index) => {
    if (token.type !== "heading_open") return [];
    const text = wordsOf(tokens[index + 1]);
    const id = anchorOf(text, taken);
    token.attrSet("id", id);
    return [{ id, text, level: Number(token.tag.slice(1)) }];
  });
}

function partsOf(tokens: readonly Token[]): RenderedPage["parts"] {
  const parts: { id: string; heading: string; text: string }[] = [];
  for (const [index, token] of tokens.entries()) {
    const isHeading = tokens[index - 1]?.type === "heading_open";
    const part = parts.at(-1);
    if (isHeading)
      parts.push({ id: String(tokens[index - 1]?.attrGet("id") ?? ""), heading: wordsOf(token), text: "" });
    else if (part !== undefined && ["inline", "fence"].includes(token.type)) part.text += ` ${wordsOf(token)}`;
  }
  return parts;
}

/** As GitHub makes them, so that one link works there and here. */
export function anchorOf(heading: string, taken: Map<string, number>): string {
  const plain = heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(" ", "-");
  const count = taken.get(plain) ?? 0;
  taken.set(plain, count + 1);
  return count === 0 ? plain : `${plain}-${count}`;
}

function wordsOf(token: Token | undefined): string {
  if (token?.children == null) return token?.content.trim() ?? "";
  return token.children.map(({ type, content }) => (type === "softbreak" ? " " : content)).join("");
}

function lead(token: Token, page: string, neighbours: Neighbours): void {
  const name = token.type === "link_open" ? "href" : "src";
  const target = String(token.type === "link_open" || token.type === "image" ? (token.attrGet(name) ?? "") : "");
  if (target === "" || /^[a-z]+:/.test(target) || target.startsWith("#")) return;
  const [path = "", anchor] = target.split("#");
  const file = posix.join(posix.dirname(page), decodeURI(path));
  if (neighbours.pages.has(file)) {
    token.attrSet(name, `${between(page, addressOf(file))}${anchor === undefined ? "" : `#${anchor}`}`);
  } else if (neighbours.pictures.has(file)) {
    token.attrSet(name, between(page, file.replace(/^docs\//, "")));
  } else {
    token.tag = "span";
    token.attrs = [
      ["class", "file"],
      ["title", `${file} in the repository`],
    ];
  }
}

/** A link whose opening became a span ends as one. */
function closeFileLinks(tokens: readonly Token[]): void {
  for (const { children } of tokens) {
    let open = "a";
    for (const child of children ?? []) {
      if (child.type === "link_open") open = child.tag;
      if (child.type === "link_close") child.tag = open;
    }
  }
}

/** From a page to an address of the site. */
export function between(page: string, address: string): string {
  return posix.relative(posix.dirname(addressOf(page)), address) || posix.basename(address);
}
