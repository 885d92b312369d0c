import { describe, expect, test } from "vitest";
import { readYaml } from "../../../../cli/manifests/read-yaml.ts";
import type { Json } from "../../../../core/config/types.ts";

function valuesOf(text: string): readonly Json[] {
  const { documents, problems } = readYaml(text);
  expect([...problems, ...documents.flatMap((document) => document.problems)]).toEqual([]);
  return documents.map((document) => document.value);
}

function problemsOf(text: string): readonly string[] {
  const { documents, problems } = readYaml(text);
  return [...problems, ...documents.flatMap((document) => document.problems)].map(
    ({ line, column, pointer, message }) => `${line}:${column} ${pointer} ${message}`,
  );
}

describe("documents", () => {
  test("are read one after the other, without the empty ones", () => {
    expect(valuesOf("# only a remark\n---\na: 1\n---\n---\nb: 2\n...\n")).toEqual([{ a: 1 }, { b: 2 }]);
  });

  test("may be JSON, with escapes and a surrogate pair", () => {
    expect(valuesOf('{"a": [1, 1.0, "\\ud83d\\ude00", null], "b": {"c": true}}')).toEqual([
      { a: [1, 1, "😀", null], b: { c: true } },
    ]);
  });

  test("may start with a byte order mark and end lines as Windows does", () => {
    expect(valuesOf("\uFEFFa: x\r\nb: z\r\n")).toEqual([{ a: "x", b: "z" }]);
  });

  test("that are no YAML are named with their place, and the others are read all the same", () => {
    const read = readYaml("a: 1\n---\nb: [1\nc: 2\n---\nd: 4\n");
    expect(read.documents.map(({ value }) => value)).toEqual([{ a: 1 }, { d: 4 }]);
    expect(read.problems).toEqual([
      { line: 3, column: 4, pointer: "", message: "This [ is not closed: write ] behind what it holds" },
    ]);
  });

  const mistakes: Readonly<Record<string, readonly [text: string, problem: string]>> = {
    "a brace without its end, before a line of ---": ["a: { b: 1\n---\nc: 1\n", "1:4  This { is not closed: write }"],
    "a brace without its end, beside one that has it": [
      "a:\n  b: { c: { d: 1 }\n  e: { f: 1 }\n",
      "2:6  This { is not closed: write }",
    ],
    "a bracket at the end of the file": ["a: [b, c\n", "1:4  This [ is not closed: write ]"],
    "an object of JSON without its end": ['{ "a": { "b": 1 }\n', "1:1  This { is not closed: write }"],
    "a brace that a bracket closes": ["a: { b: 1 ]\n", "1:4  This { is not closed: write }"],
    "a quote without its second": ['a: { b: "c }\n', '1:9  This " is not closed: write "'],
    "a brace too many": ["a: { b: 1 }}\n", "1:12  This } closes nothing: remove it"],
    "a brace without its end, in the second document": [
      "a: {}\n---\nb: { c: 1\n",
      "3:4  This { is not closed: write }",
    ],
    "two colons on one line": ["a: b: c\n", "1:4  A second name and colon follow a value here"],
    "two colons between commas": ["a: { b: c d: e }\n", "1:9  A second name and colon follow a value here"],
    "a line without a colon": ["a:\n  b c\n  d: 1\n", "2:3  No colon is on this line"],
  };
  test.each(Object.entries(mistakes))("say of %s where it is and what to write", (_what, [text, problem]) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });

  test("nested a hundred thousand levels deep are refused", () => {
    expect(problemsOf("[".repeat(100_000))).toEqual([expect.stringContaining("nested too deeply")]);
  });

  test("nested 129 levels deep are refused", () => {
    expect(valuesOf(`a: ${"[".repeat(127)}${"]".repeat(127)}`)).toHaveLength(1);
    expect(problemsOf(`a: ${"[".repeat(129)}${"]".repeat(129)}`)).toEqual([
      expect.stringContaining("Nested more than 128 levels deep"),
    ]);
  });
});

describe("keys", () => {
  for (const key of [
    "n",
    "y",
    "yes",
    "No",
    "on",
    "Off",
    "TRUE",
    "False",
    "~",
    "null",
    "Null",
    "0777",
    "0x10",
    "1_000",
    "1.5",
    "1e3",
    "+1",
    ".inf",
  ]) {
    test(`an unquoted ${key} is refused, because kubectl makes another name of it`, () => {
      expect(problemsOf(`spec:\n  ${key}: 1\n`)).toEqual([
        expect.stringMatching(/^2:3 .*The unquoted key .* in quotes$/),
      ]);
    });
  }

  for (const key of [
    "true",
    "false",
    "1",
    "-5",
    "0",
    "2030-12-31",
    "a.b",
    "a/b",
    "constructor",
    "__proto__",
    "_metadata",
  ]) {
    test(`an unquoted ${key} is read as it stands`, () => {
      const [value] = valuesOf(`${key}: here\n`);
      expect(Object.entries(value ?? {})).toEqual([[key, "here"]]);
    });
  }

  test("in quotes are what they are, the empty one too", () => {
    expect(valuesOf('"n": 1\n"yes": 2\n"": 3\n\'on\': 4\n')).toEqual([{ n: 1, yes: 2, "": 3, on: 4 }]);
  });

  test("that stand twice are refused at the second place", () => {
    expect(problemsOf("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n")).toEqual([
      '4:3 /b/c The key "c" is there twice',
      '5:1 /a The key "a" is there twice',
    ]);
  });

  test("those of a further object are said once, with what to write between the two", () => {
    const object = (name: string): string => `apiVersion: v1\nkind: Project\nmetadata: { name: ${name} }\n`;
    const message =
      'The key "apiVersion" is there twice: if another object begins here, write --- on a line of its own';
    expect(problemsOf(object("a") + object("b") + object("c"))).toEqual([
      expect.stringContaining(`4:1 /apiVersion ${message}`),
      expect.stringContaining(`7:1 /apiVersion ${message}`),
    ]);
  });

  test("that stand twice in quotes and without are one key", () => {
    expect(problemsOf('a: 1\n"a": 2\n')).toEqual(['2:1 /a The key "a" is there twice']);
  });

  test("that are lists or mappings are refused", () => {
    expect(problemsOf("? [a, b]\n: 1\n")).toEqual([expect.stringContaining("A key must be a plain text")]);
  });

  test("empty ones are refused", () => {
    expect(problemsOf(": 1\n")).toEqual([expect.stringContaining("The unquoted key (nothing)")]);
  });
});

describe("values", () => {
  test("in quotes and in blocks are texts, whatever they look like", () => {
    expect(valuesOf("a: \"yes\"\nb: '0777'\nc: |\n  true\nd: >-\n  1\n  2\n")).toEqual([
      { a: "yes", b: "0777", c: "true\n", d: "1 2" },
    ]);
  });

  test("left out are null", () => {
    expect(valuesOf("a:\nb: [1, ]\nc: {d: }\n")).toEqual([{ a: null, b: [1], c: { d: null } }]);
  });

  test("that surprise are noted with their place and read as kubectl reads them", () => {
    const [document] = readYaml("a:\n  - on\n  - 0777\n").documents;
    expect(document?.value).toEqual({ a: [true, 511] });
    expect(document?.warnings).toEqual([
      {
        line: 2,
        column: 5,
        pointer: "/a/0",
        message: 'The unquoted on is read as the boolean true, as kubectl reads it: write "on" for a text, else true',
      },
      {
        line: 3,
        column: 5,
        pointer: "/a/1",
        message: 'The unquoted 0777 is read as the number 511, as kubectl reads it: write "0777" for a text, else 511',
      },
    ]);
  });

  test("of Secrets are not repeated in problems and warnings", () => {
    const read = readYaml("kind: Secret\nstringData:\n  a: 9007199254740993\n  b: 0777\n  c: .inf\n");
    const messages = JSON.stringify([
      read.problems,
      read.documents.map(({ problems, warnings }) => [problems, warnings]),
    ]);
    expect(messages).toContain("/stringData/c");
    expect(messages).not.toMatch(/9007199254740993|0777|\.inf/);
  });

  test("that begin like a tag or an alias are not repeated in messages: they may be passwords", () => {
    const read = readYaml("kind: Secret\nstringData:\n  a: !Corr3ctHorse\n  b: *Tr0ub4dor\n");
    const messages = JSON.stringify([
      read.problems,
      read.documents.map(({ problems, warnings }) => [problems, warnings]),
    ]);
    expect(messages).toContain("in quotes if it begins with");
    expect(messages).not.toMatch(/Corr3ctHorse|Tr0ub4dor/);
  });

  test("with the tag !!str are texts, and other tags are refused", () => {
    expect(valuesOf("a: !!str 5\n")).toEqual([{ a: "5" }]);
    for (const value of ["!!binary aGk=", "!!int '5'", "!custom x", "!!set {a}", "!!timestamp 2030-01-01"]) {
      expect(problemsOf(`a: ${value}\n`), value).toEqual([expect.stringContaining("means nothing in JSON")]);
    }
  });
});

describe("anchors", () => {
  test("are repeated where an alias names them, the latest of a name", () => {
    expect(valuesOf("a: &x {n1: 1}\nb: *x\nc: &x 2\nd: [*x, *x]\n")).toEqual([
      { a: { n1: 1 }, b: { n1: 1 }, c: 2, d: [2, 2] },
    ]);
  });

  test("name a mistake in what they repeat once", () => {
    expect(problemsOf("a: &x {yes: 1}\nb: *x\nc: *x\n")).toHaveLength(1);
  });

  test("of an earlier document are unknown", () => {
    expect(problemsOf("a: &x 1\n---\nb: *x\n")).toEqual([expect.stringMatching(/^3:4 /)]);
  });

  test("that contain themselves are refused", () => {
    expect(problemsOf("a: &x\n  b: *x\n")).toEqual([expect.stringContaining("contains itself")]);
  });

  test("that swell a document are refused at once", () => {
    const levels = Array.from(
      { length: 30 },
      (_, level) => `l${level + 1}: &l${level + 1} [${"*l".concat(String(level), ", ").repeat(9)}*l${level}]`,
    );
    expect(problemsOf(`l0: &l0 x\n${levels.join("\n")}\n`)).toEqual([
      expect.stringContaining("Aliases swell this document"),
    ]);
  });

  test("merge with <<, what stands in the mapping itself wins, and the first of several", () => {
    const text = "a: &a {p: 1, q: 1}\nb: &b {q: 2, r: 2}\nc:\n  <<: *a\n  p: 3\nd:\n  <<: [*a, *b]\n";
    expect(valuesOf(text)).toEqual([
      { a: { p: 1, q: 1 }, b: { q: 2, r: 2 }, c: { p: 3, q: 1 }, d: { p: 1, q: 1, r: 2 } },
    ]);
  });

  test("merge only before the other keys, because kubectl lets a later << overwrite them", () => {
    expect(problemsOf("a: &a {x: 1}\nb:\n  x: 2\n  <<: *a\n")).toEqual([
      expect.stringMatching(/^4:3 .*Write << first/),
    ]);
  });

  test("merge only mappings", () => {
    expect(problemsOf("a: &a [1]\nb:\n  <<: *a\n")).toEqual([expect.stringContaining("<< takes a mapping")]);
  });
});

describe("places", () => {
  const [document] = readYaml("# remark\nspec:\n  hosts:\n    - a\n    - b\n  limits: { size: 5 }\n").documents;

  test("of scalars are those of the value, of containers those of the name", () => {
    expect(document?.positions.of("/spec/hosts/1")).toEqual({ line: 5, column: 7 });
    expect(document?.positions.of("/spec/limits/size")).toEqual({ line: 6, column: 19 });
    expect(document?.positions.of("/spec/limits")).toEqual({ line: 6, column: 3 });
    expect(document?.positions.of("")).toEqual({ line: 2, column: 1 });
  });

  test("of what is missing are those of the nearest parent", () => {
    expect(document?.positions.of("/spec/projectRef/name")).toEqual({ line: 2, column: 1 });
    expect(document?.positions.of("/spec/limits/other")).toEqual({ line: 6, column: 3 });
  });

  test("of names are to be had apart", () => {
    expect(document?.positions.ofKey("/spec/limits/size")).toEqual({ line: 6, column: 13 });
  });
});
