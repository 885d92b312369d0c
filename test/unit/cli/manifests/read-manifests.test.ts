import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readFileText, readManifests } from "../../../../cli/manifests/read-manifests.ts";

const project = (name: string): string =>
  `apiVersion: jsonplane.io/v1alpha1\nkind: Project\nmetadata:\n  name: ${name}\n`;
let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "manifests-"));
});

afterEach(() => rm(folder, { recursive: true }));

async function write(path: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), content);
}

async function subjectsRead(): Promise<readonly string[]> {
  return (await readManifests(folder)).objects.map(({ subject }) => subject);
}

describe("a folder", () => {
  test("is read with its subfolders, in the order of names, YAML and JSON", async () => {
    await write("b.yml", project("b"));
    await write("a/z.yaml", `${project("z1")}---\n${project("z2")}`);
    await write(
      "c.json",
      JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind: "Project", metadata: { name: "c" } }),
    );
    await write("notes.txt", project("not-read"));
    expect(await subjectsRead()).toEqual([
      "Project/default/z1",
      "Project/default/z2",
      "Project/default/b",
      "Project/default/c",
    ]);
  });

  test("is read without hidden files, node_modules, kustomization files and the files of an npm package", async () => {
    await write(".hidden.yaml", project("hidden"));
    await write(".git/config.yaml", project("git"));
    await write("node_modules/x/x.yaml", project("module"));
    await write("kustomization.yaml", "resources: [a.yaml]\n");
    for (const name of ["package", "package-lock", "tsconfig", "tsconfig.node"]) await write(`app/${name}.json`, "{}");
    await write("a.yaml", project("a"));
    const read = await readManifests(folder);
    expect(read).toMatchObject({ problems: [], notes: [] });
    expect(read.objects.map(({ subject }) => subject)).toEqual(["Project/default/a"]);
  });

  test("is read through links to files, as a mounted ConfigMap has them, and not through links to folders", async () => {
    await write(".data/a.yaml", project("a"));
    await symlink(join(folder, ".data/a.yaml"), join(folder, "a.yaml"));
    await symlink(folder, join(folder, "loop"));
    await symlink(join(folder, "nowhere.yaml"), join(folder, "dangling.yaml"));
    expect(await subjectsRead()).toEqual(["Project/default/a"]);
  });

  test("may be a single file", async () => {
    await write("a.yaml", project("a"));
    await write("b.yaml", project("b"));
    expect((await readManifests(join(folder, "a.yaml"))).objects).toHaveLength(1);
  });

  test("that does not exist can't be read", async () => {
    await expect(readManifests(join(folder, "nowhere"))).rejects.toMatchObject({ code: "ENOENT" });
  });

  test("with a file that is no text names the file and reads the others", async () => {
    await write("a.yaml", Uint8Array.of(0x61, 0x3a, 0xff, 0xfe));
    await write("b.yaml", project("b"));
    const read = await readManifests(folder);
    expect(read.problems).toMatchObject([{ file: join(folder, "a.yaml"), line: 1, message: "Is no UTF-8 text" }]);
    expect(read.objects).toHaveLength(1);
  });

  test("with a file beyond 4 MiB names the file", async () => {
    await write("a.yaml", `# ${"x".repeat(4 * 1024 * 1024)}\n${project("a")}`);
    expect((await readManifests(folder)).problems).toMatchObject([{ message: expect.stringContaining("larger than") }]);
  });
});

describe("a file", () => {
  test("with a List yields what it lists, each with its own place", () => {
    const text =
      "apiVersion: v1\nkind: List\nitems:\n  - apiVersion: v1\n    kind: Secret\n    metadata: { name: s }\n  - apiVersion: jsonplane.io/v1alpha1\n    kind: Project\n    metadata:\n      name: p\n";
    const { objects } = readFileText("list.yaml", text);
    expect(objects.map(({ subject, line }) => `${subject} ${line}`)).toEqual([
      "Secret/default/s 4",
      "Project/default/p 7",
    ]);
    expect(objects[1]?.positionOf("/metadata/name")).toEqual({ line: 10, column: 13 });
    expect(objects[1]?.positionOf("/spec/hosts").line).toBe(7);
  });

  test("with a List names the item that can't be read, and the one that is warned of", () => {
    const item = (name: string, x: string) =>
      `  - apiVersion: jsonplane.io/v1alpha1\n    kind: RootKey\n    metadata: { name: ${name} }\n    spec: { initialValue: { x: ${x} } }\n`;
    const list = `apiVersion: v1\nkind: List\nitems:\n${item("a", "0777")}${item("b", ".inf")}`;
    const { problems, notes } = readFileText("list.yaml", list);
    const pointer = "/spec/initialValue/x";
    expect(problems).toMatchObject([{ subject: "RootKey/default/b", pointer, line: 11 }]);
    expect(notes).toMatchObject([{ subject: "RootKey/default/a", pointer, line: 7 }]);
  });

  test("with foreign kinds leaves them out with a note, whatever else is wrong with them", () => {
    const read = readFileText("a.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: x }\non: push\n");
    expect(read).toMatchObject({
      objects: [],
      problems: [],
      notes: [{ line: 1, message: "apps/v1 Deployment is not served here: left out" }],
    });
  });

  test("with a foreign kind of one of our names says so", () => {
    const [note] = readFileText("a.yaml", "apiVersion: management.example.io/v3\nkind: Project\n").notes;
    expect(note?.message).toBe(
      "management.example.io/v3 Project is not served here, unlike jsonplane.io/v1alpha1 Project: left out",
    );
  });

  test("with a misspelt group is refused, because it was meant to be ours", () => {
    const domains = ["jsonplain.io", "jsonplane.com", "jsonplanes.io", "jsonplane.example.org", "json-plane.dev"];
    for (const version of domains.map((domain) => `${domain}/v1alpha1`)) {
      const { problems } = readFileText("a.yaml", `apiVersion: ${version}\nkind: Project\n`);
      expect(problems).toMatchObject([
        { message: `There is no ${version} Project: write apiVersion: jsonplane.io/v1alpha1` },
      ]);
    }
  });

  test.each([
    ["v1", "ApiKey", "jsonplane.io/v1alpha1"],
    ["jsonplane/v1alpha1", "ApiResource", "jsonplane.io/v1alpha1"],
    ["apps/v1", "Project", "jsonplane.io/v1alpha1"],
    ["jsonplane.io/v1alpha1", "Secret", "v1"],
    ["v1beta1", "Secret", "v1"],
  ])("with %s %s is refused, because no other group is likely to be meant", (version, kind, right) => {
    expect(readFileText("a.yaml", `apiVersion: ${version}\nkind: ${kind}\nmetadata: { name: a }\n`)).toMatchObject({
      objects: [],
      problems: [{ line: 1, message: `There is no ${version} ${kind}: write apiVersion: ${right}` }],
      notes: [],
    });
  });

  test("with a misspelt kind in no group of another system is refused with both that are meant", () => {
    const { problems } = readFileText("a.yaml", "apiVersion: v1\nkind: ApiResources\nmetadata: { name: a }\n");
    expect(problems).toMatchObject([
      { message: "There is no v1 ApiResources: write apiVersion: jsonplane.io/v1alpha1 and kind: ApiResource" },
    ]);
  });

  test.each([
    ["a value", `${project("{{ .Values.name }}")}`, 4],
    ["a part of a name", project("shop-{{ .Release.Name }}"), 4],
    ["a name in quotes", project('"{{ .Values.name }}"'), 4],
    ["labels", `${project("a")}  labels:\n    {{- include "labels" . | nindent 4 }}\n`, 6],
    ["a document", `{{- if .Values.shop }}\n${project("a")}{{- end }}\n`, 1],
    ["each document", `{{- range .Values.shops }}\n---\n${project("{{ . }}")}{{- end }}\n`, 1],
  ])("with braces of Helm in place of %s says once that it has to be rendered", (_what, text, line) => {
    expect(readFileText("a.yaml", text)).toMatchObject({
      objects: [],
      problems: [{ line, message: expect.stringContaining("an unrendered Helm template: run `helm template` first") }],
    });
  });

  test("with braces of Helm elsewhere keeps its own problems", () => {
    const text = `${project("a")}  annotations: { a: "{{ b }}" }\nspec:\n\n  yes: 1\n`;
    expect(readFileText("a.yaml", text).problems).toMatchObject([{ line: 8, pointer: "/spec/yes" }]);
    expect(readFileText("a.yaml", text.replace("yes", "hosts")).objects).toHaveLength(1);
  });

  test("with data as JSON objects one after the other is left out with one note", () => {
    expect(readFileText("data.json", '{"a":1}\n{"b":2}\n')).toMatchObject({
      problems: [],
      notes: [{ message: "Is not a manifest, left out" }],
    });
  });

  test("with JSON objects one after the other has the position of each", () => {
    const text =
      '{"apiVersion":"v1","kind":"Secret"}\n\n  {\n"apiVersion": "jsonplane.io/v1alpha1",\n"kind": "Project"}';
    expect(readFileText("a.json", text).objects.map(({ line }) => line)).toEqual([1, 3]);
    expect(readFileText("a.json", text).objects[1]?.positionOf("/kind")).toEqual({ line: 5, column: 9 });
  });

  test("with what kubectl can't read says where, and only where it has objects of ours", () => {
    const tabbed = `${project("a")}\t\nspec: {}\n`;
    expect(readFileText("a.yaml", tabbed).problems).toMatchObject([{ line: 5, column: 1 }]);
    expect(readFileText("a.yaml", "services: {}\n\t\n").problems).toEqual([]);
  });

  test("with another version or an unknown kind of our group is ours to refuse", () => {
    const text = "apiVersion: jsonplane.io/v1\nkind: Project\n---\napiVersion: jsonplane.io/v1alpha1\nkind: Projekt\n";
    expect(readFileText("a.yaml", text).objects).toHaveLength(2);
  });

  test("that lacks apiVersion or kind is refused", () => {
    for (const text of ["kind: Project\n", "metadata: { name: a }\nspec: {}\n"]) {
      expect(readFileText("a.yaml", text).problems).toMatchObject([
        { message: expect.stringContaining("needs apiVersion and kind") },
      ]);
    }
  });

  test("that is no Kubernetes file at all is left out with a note", () => {
    expect(readFileText("compose.yaml", "services: {}\n").notes).toMatchObject([
      { message: "Has neither apiVersion nor kind, left out" },
    ]);
    expect(readFileText("package.json", '{"name": "x", "name": "y"}').notes).toMatchObject([
      { message: "Is not a manifest, left out" },
    ]);
  });

  test("with a list of documents, or a text, is refused", () => {
    expect(readFileText("a.yaml", "- apiVersion: v1\n").problems).toHaveLength(1);
    expect(readFileText("a.yaml", "Project\n").problems).toHaveLength(1);
  });

  test("names the object of a problem where it can", () => {
    const { problems, objects } = readFileText("a.yaml", `${project("a")}spec:\n  yes: 1\n---\n${project("b")}`);
    expect(problems).toMatchObject([
      { file: "a.yaml", subject: "Project/default/a", line: 6, column: 3, pointer: "/spec/yes" },
    ]);
    expect(objects.map(({ subject }) => subject)).toEqual(["Project/default/b"]);
  });
});
