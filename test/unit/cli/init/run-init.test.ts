import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInit } from "../../../../cli/init/run-init.ts";
import { programWord } from "../../../../cli/shell-words.ts";
import { runValidate } from "../../../../cli/validate/run-validate.ts";

let root = "";

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "jsonplane-init-"));
});

afterEach(() => rmSync(root, { recursive: true, force: true }));

async function init(folder: string) {
  const printed: string[] = [];
  const errors: string[] = [];
  const code = await runInit(folder, {
    out: (line) => void printed.push(line),
    error: (line) => void errors.push(line.replaceAll(root, "")),
  });
  return { code, printed, errors };
}

describe("jsonplane init", () => {
  it("writes a project into a new folder that validate --strict has nothing to say about", async () => {
    const folder = join(root, "deep", "backend");
    expect(await init(folder)).toMatchObject({ code: 0, errors: [] });
    const output: string[] = [];
    expect(await runValidate(folder, { strict: true }, (line) => void output.push(line))).toBe(0);
    expect(output).toEqual([`${folder}: 5 objects are valid`]);
  });

  it("writes one of each: resource, user, key and root key, and explains each", async () => {
    await init(join(root, "backend"));
    const documents = readFileSync(join(root, "backend", "project.yaml"), "utf8").split("\n---\n");
    const kinds = documents.map((text) => /^kind: (.*)$/m.exec(text)?.[1]);
    expect(kinds).toEqual(["Project", "ApiResource", "ProjectUser", "ApiKey", "RootKey"]);
    for (const text of documents) expect(text).toMatch(/^# .+/);
  });

  it.each([
    ["shop", "shop", "shop"],
    ["My Café (2)", "my-cafe-2", "my-cafe-2"],
    ["2026", "2026", '"2026"'],
    ["on", "on", '"on"'],
    ["_.本", "todo", "todo"],
    [`${"a".repeat(62)} b`, "a".repeat(62), "a".repeat(62)],
  ])("names the Project of the folder %s %s, in every place", async (folder, name, written) => {
    expect(await init(join(root, folder))).toMatchObject({ code: 0 });
    const text = readFileSync(join(root, folder, "project.yaml"), "utf8");
    expect(text.match(/^ {2}name: (.*)$/m)?.[1]).toBe(written);
    expect([...text.matchAll(/projectRef: \{ name: (.*) \}/g)].map(([, found]) => found)).toEqual(
      Array(4).fill(written),
    );
    expect(text).toContain(`/default/${name}: `);
    const output: string[] = [];
    expect(await runValidate(join(root, folder), { strict: true }, (line) => void output.push(line))).toBe(0);
  });

  it("takes an empty folder, and one with hidden files only", async () => {
    mkdirSync(join(root, ".git"));
    expect(await init(root)).toMatchObject({ code: 0 });
    expect(readdirSync(root)).toEqual([".git", "project.yaml"]);
  });

  it.each(["project.yaml", "package.json"])("refuses a folder with %s in it, and leaves it as it is", async (name) => {
    writeFileSync(join(root, name), "mine");
    const { code, errors } = await init(root);
    expect(code).toBe(1);
    expect(errors).toEqual([expect.stringContaining(` is not empty (${name} is in it), and nothing was written: `)]);
    expect(errors[0]).toMatch(/name a new folder with \S+ init DIR, or serve what is in this one with \S+ dev /);
    expect(readdirSync(root)).toEqual([name]);
    expect(readFileSync(join(root, name), "utf8")).toBe("mine");
  });

  it("refuses what is no folder, or lies below a file", async () => {
    writeFileSync(join(root, "file"), "mine");
    expect((await init(join(root, "file"))).errors).toEqual(["/file is not a folder: name another one"]);
    expect((await init(join(root, "file", "x"))).errors).toEqual(["/file/x is not a folder: name another one"]);
  });
});

describe("the program in a printed command line", () => {
  it("is what starts it again: from a project, from everywhere, or from a clone", () => {
    expect(programWord("/srv/app/node_modules/.bin/jsonplane")).toBe("npx jsonplane");
    expect(programWord("/usr/bin/jsonplane")).toBe("jsonplane");
    expect(programWord("/srv/jsonplane/cli/main.ts")).toBe("bin/jsonplane");
  });
});
