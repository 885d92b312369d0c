// What `helm test` runs: declares a project of its own, waits until it is served, asks for it, writes to it, and takes it away again.

import { readFile } from "node:fs/promises";
import { env } from "node:process";

const { NAMESPACE, SERVICE_URL, ADMIN_NOTE } = env;
const account = "/var/run/secrets/kubernetes.io/serviceaccount";
const api = "https://kubernetes.default.svc/apis/jsonplane.io/v1alpha1";
const name = `helm-test-${Date.now().toString(36)}`;
const withinMs = 90_000;

const token = await readFile(`${account}/token`, "utf8");

/** An answer of the API server; undefined = there is no such object. */
async function kube(method, path, body) {
  const response = await fetch(`${api}/namespaces/${NAMESPACE}/${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: body && JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", ...body }),
  });
  if (response.status === 404 && method !== "POST") return undefined;
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return await response.json();
}

async function until(what, look) {
  const end = Date.now() + withinMs;
  for (let last; ; ) {
    try {
      const found = await look();
      if (found) {
        process.stdout.write(`ok: ${what}\n`);
        return found;
      }
    } catch (error) {
      last = error;
    }
    if (Date.now() > end)
      throw new Error(`${what}: not within ${withinMs / 1000} s. ${last?.message ?? ""} ${ADMIN_NOTE}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

function isReady(object) {
  const condition = object?.status?.conditions?.find(({ type }) => type === "Ready");
  if (condition?.status === "True") return true;
  throw new Error(
    `${object?.kind} ${object?.metadata?.name}: ${condition?.reason ?? "no status yet"} ${condition?.message ?? ""}`,
  );
}

const kinds = { projects: name, rootkeys: `${name}-hello` };
try {
  await kube("POST", "projects", { kind: "Project", metadata: { name }, spec: { deletionPolicy: "Delete" } });
  await kube("POST", "rootkeys", {
    kind: "RootKey",
    metadata: { name: kinds.rootkeys },
    spec: {
      projectRef: { name },
      key: "hello",
      initialValue: { count: 1 },
      access: { read: "Anyone", update: "Anyone" },
    },
  });
  for (const [plural, object] of Object.entries(kinds)) {
    await until(`${plural}/${object} is Ready`, async () => isReady(await kube("GET", `${plural}/${object}`)));
  }
  const url = `${SERVICE_URL}/${NAMESPACE}/${name}/json/hello/count`;
  await until("its value is served", async () => (await (await fetch(url)).text()) === "1");
  const put = await fetch(url, { method: "PUT", headers: { "content-type": "application/json" }, body: "2" });
  if (!put.ok) throw new Error(`PUT: ${put.status} ${await put.text()}`);
  await until("what was written is read", async () => (await (await fetch(url)).text()) === "2");
} finally {
  for (const [plural, object] of Object.entries(kinds).reverse()) {
    await kube("DELETE", `${plural}/${object}`);
    await until(`${plural}/${object} is gone`, async () => (await kube("GET", `${plural}/${object}`)) === undefined);
  }
}
