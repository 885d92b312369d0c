// The step of docs/how-to/preview-environments.md that fills a preview, run by bash as the page's
// workflow says, against a project that is served. GitHub's token endpoint and npm are programs of
// the test, in place of curl's first call and of `npm`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { parse } from "yaml";
import { systemClock } from "../../core/clock.ts";
import { createEmbeddedStore } from "../../dataplane/store/embedded/embedded-store.ts";
import { fencedBlocks, fileNamed } from "../support/documents/fenced-blocks.ts";
import { keyPair, testIssuer, withIssuer } from "../support/http/external-issuer.ts";
import { apikey, project, withKey, withResource } from "../support/http/projects.ts";
import { type Served, serveFrom } from "../support/http/served.ts";

interface Workflow {
  readonly defaults: { readonly run: { readonly shell: string } };
  readonly jobs: { readonly test: { readonly steps: readonly { readonly run?: string }[] } };
}

const guide = fileURLToPath(new URL("../../docs/how-to/preview-environments.md", import.meta.url));
/** How GitHub runs a step for `shell: bash`; without it, there is no pipefail. */
const shells: Readonly<Record<string, readonly string[]>> = {
  bash: ["--noprofile", "--norc", "-e", "-o", "pipefail"],
  none: ["-e"],
};
const issuer = testIssuer("github", { audiences: ["preview"], administrators: [{ claim: "sub", contains: "job" }] }, [
  keyPair("one"),
]);
let folder = "";
let served: Served;
let tokens: Server;
let workflow: Workflow;
/** What GitHub gives as the job's token. */
let token = "";

beforeAll(async () => {
  const blocks = fencedBlocks(await readFile(guide, "utf8"));
  workflow = parse(
    blocks.find((block) => fileNamed(block) === ".github/workflows/preview.yaml")?.text ?? "",
  ) as Workflow;
  const properties = { title: { type: "string" }, pages: { type: "integer" } };
  const store = await createEmbeddedStore({ directory: ":memory:", clock: systemClock });
  const shop = project(
    "shop",
    withKey("staff", { role: "Administrators" }),
    withIssuer(issuer),
    withResource("books", { schema: { type: "object", properties } }),
  );
  served = await serveFrom(store, [shop], { publicUrl: "", clock: systemClock });
  tokens = createServer((_, response) => response.end(JSON.stringify({ value: token })));
  await new Promise<void>((resolve) => tokens.listen(0, "127.0.0.1", resolve));
  folder = await mkdtemp(join(tmpdir(), "jsonplane-preview-"));
  await mkdir(join(folder, "test/data"), { recursive: true });
  await mkdir(join(folder, "bin"));
  await writeFile(join(folder, "bin/npm"), '#!/bin/sh\necho "npm $*"\n');
  await chmod(join(folder, "bin/npm"), 0o755);
});

afterAll(async () => {
  tokens?.close();
  await served?.plane.close();
  await served?.store.close();
  await rm(folder, { recursive: true, force: true });
});

const validToken = () => issuer.token({ aud: "preview", sub: "job", iat: seconds(), exp: seconds() + 300 });
const seconds = () => Math.floor(Date.now() / 1_000);
const save = (name: string, book: unknown) => writeFile(join(folder, `test/data/${name}.json`), JSON.stringify(book));

async function runStep(): Promise<{ readonly code: number; readonly out: string }> {
  const script = workflow.jobs.test.steps.findLast(({ run }) => run !== undefined)?.run ?? "";
  await writeFile(join(folder, "step.sh"), script);
  const child = spawn("bash", [...(shells[workflow.defaults?.run.shell ?? "none"] ?? []), "step.sh"], {
    cwd: folder,
    env: {
      PATH: `${join(folder, "bin")}:${process.env["PATH"]}`,
      API: served.origin + served.base,
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: "of the job",
      ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/?version=1`,
    },
  });
  let out = "";
  child.stdout.on("data", (data) => (out += String(data)));
  const [code] = (await once(child, "close")) as [number];
  return { code, out };
}

async function titles(): Promise<readonly string[]> {
  const reply = await served.send("/api/books?_sort=title", { as: apikey("staff") });
  return reply.json<{ items: { title: string }[] }>().items.map(({ title }) => title);
}

it("completes a fill that broke off, adds no book twice, and runs the tests", async () => {
  await save("1", { title: "Emma & Ann", pages: 1 });
  await save("2", { title: "Persuasion", pages: "many" });
  await save("3", { title: "Sanditon" });
  token = validToken();
  const broken = await runStep();
  expect(broken.code).toBe(22);
  expect(broken.out).toContain("validation_failed");
  expect(broken.out).not.toContain("npm test");
  expect(await titles()).toEqual(["Emma & Ann"]);
  await save("2", { title: "Persuasion", pages: 2 });
  for (let commit = 0; commit < 2; commit += 1) {
    const done = await runStep();
    expect(done.code).toBe(0);
    expect(done.out).toContain("npm test");
    expect(await titles()).toEqual(["Emma & Ann", "Persuasion", "Sanditon"]);
  }
});

it("ends where the preview can't be asked what it has, and runs no test", async () => {
  token = "not a token";
  const { code, out } = await runStep();
  expect(code).toBe(22);
  expect(out).not.toContain("npm test");
});
