// Secrets that two objects of a folder want, and Secrets of the folder that are refused: dev mode
// says what a cluster would.

import { afterEach, beforeEach, expect, it } from "vitest";
import { type DevCluster, devCluster } from "./dev-cluster.ts";

const document = (kind: string, name: string, spec: string): string =>
  `apiVersion: jsonplane.io/v1alpha1\nkind: ${kind}\nmetadata: { name: ${name} }\nspec: ${spec}\n`;
const shop = document("Project", "shop", "{}");
const keyOf = (project: string, name: string, secretName: string): string =>
  document("ApiKey", name, `{ projectRef: { name: ${project} }, secretName: ${secretName} }`);

let dev: DevCluster;
beforeEach(async () => {
  dev = await devCluster();
});
afterEach(() => dev.close());

it.each([
  ["another Project's key has", "mine", [document("Project", "other", "{}"), keyOf("other", "first", "mine")]],
  ["its Project's signing keys have", "shop-signing", []],
])("a key is not written into the Secret that %s", async (_whose, secretName, others) => {
  dev.edit("a.yaml", [...others, shop, keyOf("shop", "second", secretName)].join("---\n"));
  expect((await dev.pass()).join("\n")).toContain(
    `ApiKey/default/second: Secret "${secretName}" was not made for this`,
  );
  const kept = await dev.secrets.read();
  await dev.pass();
  expect(await dev.secrets.read()).toEqual(kept);
  expect(dev.parts()?.keys.size).toBe(0);
});

it("a Secret of the folder that is refused is not called missing", async () => {
  const ada = document("ProjectUser", "ada", "{ projectRef: { name: shop }, passwordSecretRef: { name: login } }");
  const login = "apiVersion: v1\nkind: Secret\nmetadata: { name: login }\ndata: { password: hush! }\n";
  dev.edit("a.yaml", [shop, ada, login].join("---\n"));
  const news = (await dev.pass()).join("\n");
  expect(news).toContain(
    "ProjectUser/default/ada /spec/passwordSecretRef/name: Secret default/login is itself refused",
  );
  expect(news).not.toContain("has no Secret");
});
