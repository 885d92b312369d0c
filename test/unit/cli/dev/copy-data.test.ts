import { expect, it } from "vitest";
import { createDevCopies } from "../../../../cli/dev/stored-data/copy-data.ts";
import { createCollectionPreparer } from "../../../../dataplane/objects/prepare-collection.ts";
import { idOf, objectOf } from "../../../support/store/stored-objects.ts";
import { devCluster } from "./dev-cluster.ts";

const manifest = (kind: string, name: string, spec: object): string =>
  `${JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec })}\n---\n`;
const resource = (project: string, properties: object): string =>
  manifest("ApiResource", `${project}-users`, {
    projectRef: { name: project },
    resourceName: "users",
    schema: { properties },
  });

it("a Project of the folder is copied into another one, masked, once it agrees and while nothing is there", async () => {
  const dev = await devCluster();
  const { store } = dev;
  const preparer = createCollectionPreparer(store, () => undefined);
  const copies = createDevCopies({ store, preparer, directory: dev.live.directory, storeFor: () => store });
  const pass = async () => {
    await dev.pass();
    return (await copies.afterPass(dev.operator().view())).map(({ text }) => text);
  };
  const users = (name: string) => ({ project: { namespace: "default", name }, resource: "users" });
  const shop = (spec: object) =>
    manifest("Project", "shop", spec) + resource("shop", { name: {}, email: { type: "string" } });
  const dataSource = { resources: ["users"], omit: ["users.email"] };
  dev.edit("shop.yaml", shop({}));
  dev.edit(
    "preview.yaml",
    manifest("Project", "preview", { dataSourceRef: { kind: "Project", name: "shop" }, dataSource }) +
      resource("preview", { name: { maxLength: 3 } }),
  );
  expect(await pass()).toEqual([
    expect.stringMatching(/^Project\/default\/preview: Nothing is copied: .*CopyNotAllowed\)$/),
  ]);
  expect(await pass()).toEqual([]);
  for (const [n, name] of ["Ada", "Grace"].entries())
    await store.create(users("shop"), objectOf(n, { name: `"${name}"`, email: '"x"' }), 10);

  dev.edit("shop.yaml", shop({ copies: { allow: "Namespace" } }));
  expect(await pass()).toEqual([
    `Project/default/preview: Objects and values copied from Project "shop": 1; not copied: 1, such as users/${idOf(1)} at /name (maxLength)`,
  ]);
  expect((await store.read(users("preview"), idOf(0), {}))?.text).toBe(objectOf(0, { name: '"Ada"' }).text);
  await store.create(users("shop"), objectOf(3, { name: '"Bob"' }), 10);
  expect([await pass(), await store.count(users("preview"), {})]).toEqual([[], 1]);
  await preparer.close();
  await dev.close();
});
