// The way out of a deletion that waits for an operator which is not there any more, on a real API server.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type OwnApiServer, startApiServer } from "../support/api-server.ts";
import { eventually } from "../support/eventually.ts";

let server: OwnApiServer;

beforeAll(async () => {
  server = await startApiServer({ controllers: ["namespace"], users: [{ name: "ann", token: "of-ann" }] });
});
afterAll(() => server.stop());

const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));

async function clear(...words: readonly string[]) {
  const child = spawn(process.execPath, [main, "finalizers", "clear", ...words], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, error] = ["", ""];
  child.stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString();
  });
  child.stderr.on("data", (chunk: Buffer) => {
    error += chunk.toString();
  });
  await once(child, "close");
  return { code: child.exitCode, lines: out.trimEnd().split("\n"), error };
}

const manifests = `
apiVersion: jsonplane.io/v1alpha1
kind: Project
metadata: { name: shop, finalizers: [jsonplane.io/purge], annotations: { note: stays } }
---
apiVersion: jsonplane.io/v1alpha1
kind: RootKey
metadata: { name: flags, finalizers: [jsonplane.io/purge] }
spec: { projectRef: { name: shop } }
`;

async function waiting(): Promise<string> {
  const namespace = await server.namespace();
  await server.apply(manifests, { namespace });
  return namespace;
}

test("a namespace that hangs without an operator goes once its finalizers are cleared", async () => {
  const namespace = await waiting();
  const kubeconfig = ["--kubeconfig", await server.kubeconfig()];
  await server.kubectl(["delete", "namespace", namespace, "--wait=false"]);
  const terminating = ["get", "projects", "shop", "-n", namespace, "-o", "jsonpath={.metadata.deletionTimestamp}"];
  await eventually(async () => expect(await server.kubectl(terminating)).not.toBe(""), { withinMs: 20_000 });

  const dry = await clear(...kubeconfig, "--namespace", namespace, "--dry-run");
  expect(dry).toMatchObject({ code: 0, error: "" });
  expect(dry.lines).toContain(`Project ${namespace}/shop: its finalizer would be removed`);
  const done = await clear(...kubeconfig, "--namespace", namespace);
  expect(done.code).toBe(0);
  expect(done.lines.slice(0, 3)).toEqual([
    `Project ${namespace}/shop: its finalizer is removed, and the object is gone`,
    `RootKey ${namespace}/flags: its finalizer is removed, and the object is gone`,
    "2 let go",
  ]);
  const get = ["get", "namespace", namespace, "--ignore-not-found", "-o", "name"];
  await eventually(async () => expect(await server.kubectl(get)).toBe(""), { withinMs: 60_000, everyMs: 250 });
});

test("whoever may not change the objects is told what it takes, and nothing is changed", async () => {
  const namespace = await waiting();
  const kubeconfig = ["--kubeconfig", await server.kubeconfig({ user: "ann" })];
  const refused = await clear(...kubeconfig, "--namespace", namespace);
  expect(refused.code).toBe(1);
  expect(refused.lines[0]).toMatch(/^Project: can't be listed: .*it takes the verbs get, list, patch and update/);

  await server.kubectl([
    "create",
    "role",
    "see",
    "--verb=get,list",
    "--resource=projects,rootkeys,apiresources",
    "-n",
    namespace,
  ]);
  await server.kubectl(["create", "rolebinding", "see", "--role=see", "--user=ann", "-n", namespace]);
  await server.kubectl(["delete", "project", "shop", "-n", namespace, "--wait=false"]);
  await eventually(async () => {
    const { code, lines } = await clear(...kubeconfig, "--namespace", namespace);
    expect(code).toBe(1);
    expect(lines[0]).toMatch(/^Project .*\/shop: can't be changed: .*it takes the verbs get, list, patch and update/);
    expect(lines[1]).toContain("left alone, nobody has deleted it");
  });
  const kept = ["get", "projects,rootkeys", "-n", namespace, "-o", "jsonpath={.items[*].metadata.finalizers}"];
  expect(await server.kubectl(kept)).toBe('["jsonplane.io/purge"] ["jsonplane.io/purge"]');
  const all = await clear("--kubeconfig", await server.kubeconfig(), "--all-namespaces", "--kind", "project");
  expect(all.lines).toContain(`Project ${namespace}/shop: its finalizer is removed, and the object is gone`);
});

test("a command line that leaves open what is meant, and a server that is not there, are refused", async () => {
  expect(await clear()).toMatchObject({
    code: 2,
    error: "jsonplane: finalizers clear needs either --namespace NAME or --all-namespaces\n",
  });
  const nowhere = await clear("--kubeconfig", "/nowhere/config", "--all-namespaces");
  expect(nowhere.code).toBe(1);
  expect(nowhere.error).toContain(
    "jsonplane: There is no way to an API server: the kubeconfig /nowhere/config can't be read",
  );
});
