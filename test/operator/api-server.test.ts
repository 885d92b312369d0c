import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OwnApiServer, startApiServer } from "../support/kubernetes/api-server/api-server.ts";
import { objectsOf } from "../support/kubernetes/api-server/api-server-objects.ts";
import { declared } from "../support/kubernetes/declared.ts";
import { eventually } from "../support/time/eventually.ts";

let server: OwnApiServer;

beforeAll(async () => {
  server = await startApiServer({ audit: true, controllers: ["namespace"], users: [{ name: "ann", token: "of-ann" }] });
});

afterAll(() => server.stop());

const project = (name: string) => `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: { name: ${name} }
`;

const raw = (path: string) => server.kubectl(["get", "--raw", path]);

test("an administrator may do everything, and others only what a role says", async () => {
  const namespace = await server.namespace();
  await server.apply(project("shop"), { namespace });
  const get = ["get", "projects", "--namespace", namespace, "-o", "name"];
  const ann = { user: "ann" };
  await expect(server.kubectl(get, { as: ann })).rejects.toThrow('User "ann" cannot list resource "projects"');
  await server.kubectl(["create", "role", "reader", "--verb=list", "--resource=projects", "-n", namespace]);
  await server.kubectl(["create", "rolebinding", "reader", "--role=reader", "--user=ann", "-n", namespace]);
  await eventually(async () => expect(await server.kubectl(get, { as: ann })).toBe("project.jsonplane.io/shop\n"));
  const asked = (await server.requests(ann)).filter(({ resource }) => resource === "projects.jsonplane.io");
  expect(asked[0]).toMatchObject({ verb: "list", namespace, code: 403 });
  expect(asked.at(-1)).toMatchObject({ verb: "list", namespace, code: 200 });
});

test("a service account asks under its own name", async () => {
  const namespace = await server.namespace();
  const operator = { namespace, serviceAccount: "operator" };
  const who = await server.kubectl(["auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"], { as: operator });
  expect(who).toBe(`system:serviceaccount:${namespace}:operator`);
  expect(await readFile(await server.kubeconfig(operator), "utf8")).toContain("certificate-authority-data");
});

test("the namespace controller ends a namespace with what is in it", async () => {
  const namespace = await server.namespace();
  await server.apply(project("shop"), { namespace });
  await server.kubectl(["delete", "namespace", namespace]);
  await expect(server.kubectl(["get", "namespace", namespace])).rejects.toThrow("not found");
});

test("what is stored later is gone, and what was there is as it was, once a state is brought back", async () => {
  const namespace = await server.namespace();
  await server.apply([project("changed"), project("deleted")].join("---"), { namespace });
  const bringBack = await server.rememberState();
  const later = await server.namespace();
  const { create, patch, remove } = objectsOf(server, namespace);
  await create(declared("Project", "new"));
  await patch("Project", "changed", { spec: { serving: "ReadOnly" } });
  await remove("Project", "deleted");
  await bringBack();
  const shown = ["get", "projects", "-n", namespace, "-o", "jsonpath={.items[*]['metadata.name', 'spec.serving']}"];
  await eventually(async () => expect(await server.kubectl(shown)).toBe("changed deleted ReadWrite ReadWrite"));
  await eventually(() => expect(server.kubectl(["get", "namespace", later])).rejects.toThrow("not found"));
});

test("a page from before a compaction is gone", async () => {
  const namespace = await server.namespace();
  await server.apply([project("one"), project("two")].join("---"), { namespace });
  const path = `/apis/jsonplane.io/v1alpha1/namespaces/${namespace}/projects`;
  const page = JSON.parse(await raw(`${path}?limit=1`)) as { metadata: { continue: string; resourceVersion: string } };
  await server.apply(project("three"), { namespace });
  await server.compactEtcd();
  await server.restartApiServer();
  await expect(raw(`${path}?limit=1&continue=${page.metadata.continue}`)).rejects.toThrow("Expired");
  const watch = `${path}?watch=true&timeoutSeconds=1&resourceVersion=${page.metadata.resourceVersion}`;
  // A watch says so in its first event.
  expect(await raw(watch).catch(String)).toMatch(/"code":410|Expired|too old/);
});

test("a killed server comes back on its address with its objects", async () => {
  const namespace = await server.namespace();
  await server.apply(project("shop"), { namespace });
  const { url, pid } = server;
  await server.kill9ApiServer();
  await expect(raw("/readyz")).rejects.toThrow("refused");
  await server.restartApiServer();
  expect([server.url, server.pid === pid]).toEqual([url, false]);
  expect(await server.kubectl(["get", "jproj", "shop", "-n", namespace, "-o", "name"])).toContain("shop");
});

test("a paused server answers when it goes on", async () => {
  server.pauseApiServer();
  await expect(server.kubectl(["get", "--raw", "/readyz", "--request-timeout=500ms"])).rejects.toThrow();
  server.resumeApiServer();
  expect(await eventually(() => raw("/readyz"))).toBe("ok");
});

test("servers, controllers and their folder go with the process that started them, however that ends", async () => {
  const part = new URL("../support/kubernetes/api-server/api-server.ts", import.meta.url).href;
  const program = `
    import { startApiServer } from ${JSON.stringify(part)};
    const server = await startApiServer({ crds: false });
    console.log(JSON.stringify([server.pid, await server.kubeconfig()]));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [pid, kubeconfig] = await new Promise<readonly [number, string]>((resolve, reject) => {
    child.stdout.setEncoding("utf8").once("data", (line: string) => resolve(JSON.parse(line)));
    child.once("exit", () => reject(new Error("it ended before it had started a server")));
  });
  expect([isAlive(pid), existsSync(kubeconfig)]).toEqual([true, true]);
  child.kill("SIGKILL");
  const left = () => [isAlive(pid), existsSync(dirname(kubeconfig))];
  await eventually(() => expect(left()).toEqual([false, false]), { withinMs: 20_000 });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
