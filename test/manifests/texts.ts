// Files of manifests and what is read of each, by `jsonplane validate` and dev mode as by kubectl.

export interface TextCase {
  readonly title: string;
  readonly file: string;
  readonly content: string | Uint8Array;
  /** Names of the Projects that are read; absent = the file is refused. */
  readonly read?: readonly string[];
  /**
   * What kubectl reads of a file that is refused here, since it leaves out the rest without a word.
   */
  readonly kubectlReads?: readonly string[];
}

const yaml = (name: string): string => `apiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata:\n  name: ${name}\n`;
const json = (name: string): string =>
  JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind: "Project", metadata: { name } });
const two = `${yaml("a")}---\n${yaml("b")}`;
const listOf = (kind: string, items: string): string =>
  `apiVersion: jsonplane.io/v1alpha1\nkind: ${kind}\nitems:${items}`;
const annotated = (value: string): string =>
  `apiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata: { name: a, annotations: { x: ${value} } }\n`;
const bigEndian = (text: string): Uint8Array => Buffer.from(text, "utf16le").swap16();

interface Reading extends Pick<TextCase, "read" | "kubectlReads"> {
  readonly file?: string;
}

const both: Reading = { read: ["a", "b"] };
const one: Reading = { read: ["a"] };
const streamed: Reading = { read: ["a", "b"], file: "x.json" };
const refused: Reading = {};
const cut: Reading = { kubectlReads: ["a"] };

const rows: readonly (readonly [title: string, content: string | Uint8Array, reading: Reading])[] = [
  ["documents with CR LF", two.replaceAll("\n", "\r\n"), both],
  ["JSON objects on lines of their own", `${json("a")}\n${json("b")}\n`, streamed],
  ["JSON objects in a YAML file", `\n ${json("a")}\n\n${json("b")}`, both],
  ["JSON objects without anything between", json("a") + json("b"), streamed],
  ["JSON objects with --- between", `${json("a")}\n---\n${json("b")}`, streamed],
  ["JSON objects with a comma between", `${json("a")},\n${json("b")}`, { ...cut, file: "x.json" }],
  ["a JSON object that is cut off", `${json("a")}\n${json("b").slice(0, -1)}`, { ...cut, file: "x.json" }],
  ["a list of JSON objects", `[${json("a")},${json("b")}]`, { file: "x.json" }],
  ["JSON objects behind a document", `${yaml("a")}---\n${json("b")}\n${json("c")}`, { kubectlReads: ["a", "b"] }],
  ["a byte order mark", `\ufeff${yaml("a")}`, one],
  ["a byte order mark where files were joined", `${yaml("a")}---\n\ufeff${yaml("b")}`, both],
  ["UTF-16 as PowerShell writes it", Buffer.from(`\ufeff${two}`, "utf16le"), both],
  ["UTF-16 with the high byte first", bigEndian(`\ufeff${two}`), both],
  ["UTF-16 without a byte order mark", Buffer.from(two, "utf16le"), refused],
  ["documents with CR alone", two.replaceAll("\n", "\r"), cut],
  [
    "items of a ProjectList without kind",
    listOf("ProjectList", "\n- metadata: { name: a }\n- metadata: { name: b }\n"),
    both,
  ],
  [
    "items of a ProjectList with a kind and no apiVersion",
    listOf("ProjectList", "\n- kind: Project\n  metadata: { name: a }\n"),
    refused,
  ],
  ["items of a List without kind", "apiVersion: v1\nkind: List\nitems:\n- metadata: { name: a }\n", refused],
  ["a List without items", "apiVersion: v1\nkind: List\nitems:\n", refused],
  ["a List without apiVersion", `kind: List\nitems:\n- ${json("a")}\n`, refused],
  [
    "a List in a List",
    `apiVersion: v1\nkind: List\nitems:\n- {"apiVersion":"v1","kind":"List","items":[${json("a")}]}\n`,
    refused,
  ],
  ["empty documents and comments", `---\n---\n# nothing\n---\n${yaml("a")}---\n`, one],
  ["--- with a comment", `${yaml("a")}--- # the second\n${yaml("b")}`, both],
  ["a document on the line of ---", `--- ${json("a")}\n`, refused],
  ["a document behind ... and no ---", `${yaml("a")}...\n${yaml("b")}`, cut],
  ["a document behind ... and ---", `${yaml("a")}...\n---\n${yaml("b")}`, both],
  ["a directive", `%YAML 1.1\n---\n${yaml("a")}`, refused],
  ["a tab on a line of its own", yaml("a").replace("kind", "\t\nkind"), refused],
  ["a tab before a comment", yaml("a").replace("kind", "\t# of this kind:\nkind"), refused],
  ["a tab behind the dash of an item", `${yaml("a")}spec:\n  hosts:\n  -\ta.example.org\n`, refused],
  ["tabs between tokens", "apiVersion:\tjsonplane.io/v1alpha1\nkind: Project\t\nmetadata: { name: a }\t# x\n", one],
  ["JSON that is indented with tabs", JSON.stringify(JSON.parse(json("a")), null, "\t"), { ...one, file: "x.json" }],
  ["a tab in a text of several lines", `${yaml("a")}  annotations:\n    x: |\n      a\n      \tb\n`, one],
  ["a question mark in a text within braces", annotated("https://a.example.org/?b=c"), refused],
  ["a question mark in a text in quotes", annotated('"https://a.example.org/?b=c"'), one],
  ["a control character", annotated('"\u0007"'), refused],
  ["an emoji and other alphabets", annotated('"\u{1f680} Ж \u00a0"'), one],
  ["an anchor of another document", `${yaml("&x a")}---\n${yaml("*x")}`, cut],
  ["unrendered Helm in place of a value", yaml("{{ .Values.name }}"), refused],
  ["unrendered Helm around a document", `{{- if .Values.shop }}\n${yaml("a")}{{- end }}\n`, refused],
];

export function textCases(): readonly TextCase[] {
  return rows.map(([title, content, { file = "x.yaml", ...reading }]) => ({ title, file, content, ...reading }));
}
