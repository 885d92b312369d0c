// The tutorial after its tokens have expired: its lines are pasted against a server whose clock is
// put forward, and say what is wrong.

import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { type FencedBlock, fencedBlocks, fileNamed } from "../support/documents/fenced-blocks.ts";
import { type PasteShell, pasteShell } from "../support/documents/paste-shell.ts";
import { passwordOf, project, withResource, withUser } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";

const page = fileURLToPath(new URL("../../docs/tutorial.md", import.meta.url));
const hour = 3_600_000;
let blocks: readonly FencedBlock[] = [];
let folder: string;
let served: Served;
let shell: PasteShell;
/** How far the clock of the server is ahead, in milliseconds. */
let ahead = 0;

beforeAll(async () => {
  blocks = fencedBlocks(await readFile(page, "utf8"));
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const clock = { ...systemClock, now: () => systemClock.now() + ahead };
  const shelf = project(
    "shelf",
    withUser("mia"),
    withUser("tom"),
    withResource("books", { schema: { type: "object", properties: { title: { type: "string" } } } }),
  );
  served = await serveFrom(store, [shelf], { publicUrl: "", clock });
  folder = await mkdtemp(join(tmpdir(), "jsonplane-tutorial-"));
  const secrets = join(folder, ".jsonplane/shelf-1/secrets/default");
  await mkdir(secrets, { recursive: true });
  for (const name of ["mia", "tom"])
    await writeFile(join(secrets, `${name}-password.yaml`), `  password: ${passwordOf(name)}\n`);
  shell = pasteShell(folder);
  await shell.paste(`${blockWith("must() {")}\nURL=${served.origin}${served.base}`);
});

afterAll(async () => {
  await shell?.stop();
  await served?.plane.close();
  await served?.store.close();
  await rm(folder, { recursive: true, force: true });
});

function blockWith(text: string): string {
  const found = blocks.find((block) => block.language === "sh" && block.text.includes(text));
  if (found === undefined) throw new Error(`The tutorial has no lines with ${text}`);
  return found.text;
}

it("the tutorial's project has tokens of an hour, as its text says", async () => {
  const manifest = blocks.find((block) => fileNamed(block) === "shelf/project.yaml")?.text ?? "";
  expect(parse(manifest)).toMatchObject({ spec: { sessions: { accessTokenTTL: "1h" } } });
  expect(await readFile(page, "utf8")).toContain("After an hour the tokens have expired");
});

it("the tutorial's lines that take a value out of a response show an expired token, and work after its two lines of logging in", async () => {
  const takeId = blockWith("ID=$(");
  const takeTag = blockWith("ETAG=$(");
  const logIn = blockWith('MIA="Authorization');
  await shell.paste(logIn);
  await shell.paste(`ask $URL/api/books -H "$MIA" -d '{"title":"Ulysses"}'`);
  expect((await shell.paste(takeId)).printed).toContain('"state":"reading"');

  ahead = hour + 1_000;
  expect(await inSubshell(takeTag)).toEqual([
    expect.stringContaining("401"),
    "HTTP/1.1 401 Unauthorized",
    notSent("ETAG"),
  ]);
  expect(await inSubshell(takeId)).toEqual([
    expect.stringContaining("401"),
    expect.stringContaining('"code":"token_expired"'),
    notSent("ID"),
  ]);

  await shell.paste(logIn.trim().split("\n").slice(-2).join("\n"));
  expect((await shell.paste(takeId)).printed).toContain('"state":"reading"');
  expect((await shell.paste(takeTag)).printed).toBe("200\n412\n");
});

const notSent = (variable: string) => expect.stringMatching(new RegExp(`${variable}: parameter (null or )?not set`));

/**
 * What a reader sees: a terminal goes on after an error that ends a shell without one. Headers of
 * HTTP are left out, but for the status.
 */
async function inSubshell(lines: string): Promise<readonly string[]> {
  const { printed } = await shell.paste(`(${lines})`);
  return printed
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !/^[A-Z][\w-]*: /.test(line));
}

it("a login that fails says so, in place of the token", async () => {
  await shell.paste(
    "sed -i.old 's/password: .*/password: wrong/' .jsonplane/shelf-1/secrets/default/tom-password.yaml",
  );
  const { printed } = await shell.paste('TOM="Authorization: bearer $(login tom)"; echo "[$TOM]"');
  expect(printed).toContain('"code":"invalid_credentials"');
  expect(printed).toMatch(/^\[Authorization: bearer \]$/m);
});
