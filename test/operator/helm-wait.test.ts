// `helm install --wait` of manifests, without any chart of this project: it returns when all is
// served, and at once when something needs a person.

import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import type { Fleet } from "../support/fleet/fleet.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { type Declared, declared, newTenant, tenantAt } from "../support/kubernetes/declared.ts";

const bookshop = fileURLToPath(new URL("../../examples/bookshop.yaml", import.meta.url));

let fleet: Fleet;
let helm: string;
let dir: string;
let charts = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "jsonplane-helm-"));
  [fleet, helm] = await Promise.all([sharedFleet(), findHelm(process.env)]);
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
});

/** A chart of these templates, by file name. */
async function chartOf(templates: Readonly<Record<string, string>>): Promise<string> {
  charts += 1;
  const folder = join(dir, `chart-${charts}`);
  await mkdir(join(folder, "templates"), { recursive: true });
  await writeFile(join(folder, "Chart.yaml"), "apiVersion: v2\nname: shop\nversion: 0.1.0\n");
  for (const [name, text] of Object.entries(templates)) await writeFile(join(folder, "templates", name), text);
  return folder;
}

interface Ran {
  readonly code: number | null;
  readonly text: string;
}

/** What Helm says when it has waited as long as it may. */
const timeOver = /deadline exceeded|timed out/;

async function run(...args: readonly string[]): Promise<Ran> {
  const kubeconfig = await fleet.api.kubeconfig();
  const child = spawn(helm, args, {
    env: { ...process.env, HOME: dir, KUBECONFIG: kubeconfig },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { code, text };
}

function yamlOf(...objects: readonly Declared[]): string {
  return objects.map((each) => JSON.stringify(each)).join("\n---\n");
}

const shop = declared("Project", "shop");
const good = declared("ApiResource", "books", { schema: {}, access: { read: "Anyone" } });
/** The CRD takes it; that no regular expression ends like this only the operator sees. */
const broken = declared("ApiResource", "books", { schema: { properties: { isbn: { pattern: "(" } } } });

describe("helm install --wait", () => {
  it("returns once the bookshop is served, whatever the order of its manifests", async () => {
    const { namespace } = await newTenant(fleet);
    const chart = await chartOf({ "bookshop.yaml": await readFile(bookshop, "utf8") });
    const ran = await run("install", "shop", chart, "--wait", "--timeout", "120s", "--namespace", namespace);
    expect(ran).toMatchObject({ code: 0 });
    await fleet.ready(namespace, 0);
    const reply = await fleet.replicas[0]?.send(`/${namespace}/bookshop/api/books`);
    expect(reply?.status).toBe(200);
  });

  it("fails long before its time is over when a schema can't be used, and says where and why", async () => {
    const tenant = await newTenant(fleet);
    const chart = await chartOf({ "shop.yaml": yamlOf(shop, broken) });
    const ran = await run("install", "shop", chart, "--wait", "--timeout", "300s", "--namespace", tenant.namespace);
    expect(ran.code).not.toBe(0);
    expect(ran.text).toContain("status: Failed, message: /spec/schema/properties/isbn/pattern: at character 2");
    expect(ran.text).not.toMatch(timeOver);
    await tenant.reports("ApiResource", "books", "InvalidSchema", { withinMs: 0 });
  });

  it("waits for what heals by itself: the Project that another chart brings", async () => {
    const { namespace } = await newTenant(fleet);
    const [children, parent] = [await chartOf({ "a.yaml": yamlOf(good) }), await chartOf({ "a.yaml": yamlOf(shop) })];
    const waiting = run("install", "children", children, "--wait", "--timeout", "120s", "--namespace", namespace);
    const tenant = tenantAt(fleet, namespace);
    let isOver = false;
    void waiting.finally(() => {
      isOver = true;
    });
    await tenant.reports("ApiResource", "books", "ProjectNotFound", { withinMs: 60_000 });
    expect(isOver).toBe(false);
    const ran = await run("install", "parent", parent, "--wait", "--timeout", "120s", "--namespace", namespace);
    expect(ran).toMatchObject({ code: 0 });
    expect(await waiting).toMatchObject({ code: 0 });
  });
});

describe("helm upgrade and uninstall --wait", () => {
  it("of a suspended Project waits for as long as it is told to and fails, whatever it changes; without --wait, and once it isn't suspended, it succeeds", async () => {
    const tenant = await newTenant(fleet);
    const suspended = declared("Project", "shop", { suspend: true });
    const changed = declared("ApiResource", "books", {
      schema: {},
      access: { read: "Anyone" },
      limits: { maxObjects: 5 },
    });
    const charts = await Promise.all(
      [
        [shop, good],
        [suspended, changed],
        [shop, changed],
      ].map((objects) => chartOf({ "a.yaml": yamlOf(...objects) })),
    );
    const [first = "", paused = "", last = ""] = charts;
    const flags = ["--timeout", "300s", "--namespace", tenant.namespace];
    expect(await run("install", "shop", first, "--wait", ...flags)).toMatchObject({ code: 0 });
    const failed = await run("upgrade", "shop", paused, "--wait", ...flags, "--timeout", "15s");
    expect(failed.code).not.toBe(0);
    expect(failed.text).toMatch(timeOver);
    const reported = "not ready. status: InProgress, message: The Project is suspended";
    for (const name of ["Project", "ApiResource"]) {
      expect(failed.text).toMatch(new RegExp(`${name}/${tenant.namespace}/(shop|books) ${reported}`));
    }
    await tenant.reports("Project", "shop", "Suspended");
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200), { withinMs: 0 });
    expect(await run("upgrade", "shop", paused, ...flags)).toMatchObject({ code: 0 });
    expect(await run("upgrade", "shop", last, "--wait", ...flags)).toMatchObject({ code: 0 });
    await fleet.ready(tenant.namespace, 0);
  });

  it("of a broken schema fails and leaves what is served; a mended one succeeds; uninstalling ends", async () => {
    const tenant = await newTenant(fleet);
    const [first, second] = [
      await chartOf({ "a.yaml": yamlOf(shop, good) }),
      await chartOf({ "a.yaml": yamlOf(shop, broken) }),
    ];
    const flags = ["--wait", "--timeout", "300s", "--namespace", tenant.namespace];
    expect(await run("install", "shop", first, ...flags)).toMatchObject({ code: 0 });
    const failed = await run("upgrade", "shop", second, ...flags);
    expect(failed.code).not.toBe(0);
    expect(failed.text).toContain("status: Failed, message: /spec/schema/properties/isbn/pattern: at character 2");
    expect(failed.text).not.toMatch(timeOver);
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.status).toBe(200), { withinMs: 0 });
    expect(await run("upgrade", "shop", first, ...flags)).toMatchObject({ code: 0 });
    expect(await run("uninstall", "shop", ...flags)).toMatchObject({ code: 0 });
    await tenant.everywhere("/api/books", {}, (reply) => expect(reply.code).toBe("unknown_project"));
  });
});
