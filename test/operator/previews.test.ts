// What Argo CD would apply for pull requests, by the ApplicationSet of deploy/gitops and the files
// of the guide: a Project each, with a masked copy of the data, and nothing left of a closed one.

import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { fencedBlocks, fileNamed } from "../support/documents/fenced-blocks.ts";
import { sharedFleet } from "../support/fleet/shared-fleet.ts";
import { conditionsOf, tenantAt } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";
import { firstOf } from "./edited-shop.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

interface Application {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly source: { readonly path: string; readonly kustomize: { readonly nameSuffix: string } };
    readonly destination: { readonly namespace: string };
  };
}

/** As the controller of ApplicationSets fills in its template. */
async function applicationFor(number: number): Promise<Application> {
  const { spec } = parse(await readFile(join(root, "deploy/gitops/argo-cd/previews.yaml"), "utf8"));
  const text = JSON.stringify(spec.template).replaceAll("{{.number}}", String(number)).replaceAll("{{.head_sha}}", "0");
  expect(text).not.toContain("{{");
  return JSON.parse(text) as Application;
}

test("each open pull request has its Project with a masked copy of the data; of a closed one nothing is left", async () => {
  const fleet = await sharedFleet();
  const repository = await mkdtemp(join(tmpdir(), "jsonplane-previews-"));
  for (const block of fencedBlocks(await readFile(join(root, "docs/how-to/preview-copies.md"), "utf8"))) {
    const file = fileNamed(block);
    if (file === undefined) continue;
    await mkdir(dirname(join(repository, file)), { recursive: true });
    await writeFile(join(repository, file), block.text);
  }
  const namespace = await fleet.api.namespace();
  const tenant = tenantAt(fleet, namespace);
  const kubectl = (...args: string[]) => fleet.api.kubectl(["-n", namespace, ...args]);
  const apply = async (number: number): Promise<readonly string[]> => {
    const { spec } = await applicationFor(number);
    expect(spec.destination.namespace).toBe("shop");
    const checkout = `${repository}-${number}`;
    await cp(repository, checkout, { recursive: true });
    const file = join(checkout, spec.source.path, "kustomization.yaml");
    await writeFile(file, stringify({ ...parse(await readFile(file, "utf8")), ...spec.source.kustomize }));
    await kubectl("apply", "-k", dirname(file));
    return [dirname(file)];
  };

  await kubectl("apply", "-k", join(repository, "app"));
  await fleet.ready(namespace);
  const send = async (project: string, path: string, sent: { method?: string; body?: unknown } = {}) => {
    const suffix = project.slice("shop".length);
    const key = await fleet.secret(namespace, `admin${suffix}-api-key`, "apiKey");
    return await firstOf(fleet).send(`/${namespace}/${project}${path}`, { ...sent, as: `apikey ${key}` });
  };
  const customer = { name: "Ada", email: "ada@example.org", address: { city: "London", street: "12" } };
  expect((await send("shop", "/api/customers", { method: "POST", body: customer })).status).toBe(201);

  const [folder] = await Promise.all([apply(7), apply(8)]);
  await fleet.ready(namespace);
  for (const project of ["shop-pr-7", "shop-pr-8"]) {
    expect(conditionsOf(await tenant.get("Project", project))).toMatchObject({ Populated: { status: "True" } });
    const list = await send(project, "/api/customers");
    expect(list.json<{ items: object[] }>().items).toEqual([
      { id: expect.any(String), name: "Ada", address: { city: "London" }, _metadata: expect.anything() },
    ]);
  }

  await kubectl("delete", "-k", ...folder);
  await eventually(async () => expect(await tenant.names("Project")).toEqual(["shop", "shop-pr-8"]), {
    withinMs: 60_000,
  });
  await rm(repository, { recursive: true });
  for (const number of [7, 8]) await rm(`${repository}-${number}`, { recursive: true });
});
