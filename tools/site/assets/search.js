// The site's search, in the reader's browser: the index is a script beside the pages, loaded when somebody begins to search, so that it
// works from a folder as well as from a server. All words have to occur; titles and headings count more than text.

const script = document.currentScript;
const root = script.dataset.root;
const input = document.querySelector(".search input");
const list = document.querySelector(".search ol");
const most = 12;
let entries;

globalThis.searchIndex = (index) => {
  entries = index.map(([url, page, heading, text]) => ({
    url,
    page,
    heading,
    text,
    head: `${page} ${heading}`.toLowerCase(),
    body: text.toLowerCase(),
  }));
  show();
};

function load() {
  if (document.querySelector("script[data-index]")) return;
  const tag = document.createElement("script");
  tag.src = `${root}search-index.js`;
  tag.dataset.index = "";
  document.head.append(tag);
}

function worth(entry, words) {
  let sum = 0;
  for (const word of words) {
    const inHead = entry.head.includes(word);
    if (!inHead && !entry.body.includes(word)) return 0;
    sum += inHead ? 10 : 1;
    if (entry.heading.toLowerCase().startsWith(word)) sum += 5;
  }
  return sum;
}

function found(words) {
  return entries
    .map((entry) => ({ entry, sum: worth(entry, words) }))
    .filter(({ sum }) => sum > 0)
    .sort((a, b) => b.sum - a.sum)
    .slice(0, most);
}

/** The words around the first one that was looked for. */
function around({ text, body }, word) {
  const at = Math.max(0, body.indexOf(word) - 40);
  return `${at > 0 ? "…" : ""}${text.slice(at, at + 160)}`;
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function item({ entry }, words) {
  const link = element("a", "");
  link.href = `${root}${entry.url}`;
  link.append(element("b", entry.page), entry.heading === entry.page ? "" : ` › ${entry.heading}`);
  link.append(element("span", around(entry, words[0])));
  const line = document.createElement("li");
  line.append(link);
  return line;
}

function show() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.hidden = words.length === 0 || entries === undefined;
  if (list.hidden) return;
  const results = found(words);
  list.replaceChildren(...results.map((result) => item(result, words)));
  if (results.length > 0) return;
  const none = element("li", "Nothing found");
  none.className = "none";
  list.append(none);
}

function step(event) {
  const links = [...list.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const next = event.key === "ArrowDown" ? at + 1 : at - 1;
  if (next < 0) input.focus();
  else links[Math.min(next, links.length - 1)]?.focus();
  event.preventDefault();
}

input.addEventListener("focus", load);
input.addEventListener("input", show);
document.addEventListener("keydown", (event) => {
  const isInside = event.target.closest?.(".search") !== null;
  if (event.key === "/" && event.target === document.body) {
    input.focus();
    event.preventDefault();
  } else if (event.key === "Escape") list.hidden = true;
  else if (isInside && (event.key === "ArrowDown" || event.key === "ArrowUp")) step(event);
  else if (event.key === "Enter" && event.target === input) list.querySelector("a")?.click();
});
document.addEventListener("click", (event) => {
  if (!event.target.closest(".search")) list.hidden = true;
});
if (matchMedia("(max-width: 52rem)").matches) document.querySelector("nav > details")?.removeAttribute("open");
