import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createKubeApi,
  fromKubeconfig,
  inCluster,
  NoCluster,
  namespaceOf,
  serverUrl,
} from "../../../../operator/kube/connect.ts";
import { leaseType } from "../../../../operator/kube/objects.ts";
import { startFakeApiServer } from "../../../support/fake-api/fake-api-server.ts";
import { manualTime } from "../../../support/time/manual-time.ts";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-kubeconfig-"));
});

afterEach(() => rm(folder, { recursive: true }));

async function kubeconfig(server: string, user: object, cluster: object = {}): Promise<string> {
  const path = join(folder, "config");
  const text = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server, ...cluster } }],
    users: [{ name: "u", user }],
    contexts: [
      { name: "one", context: { cluster: "c", user: "u" } },
      { name: "two", context: { cluster: "c", user: "u", namespace: "shops" } },
    ],
    "current-context": "one",
  };
  await writeFile(path, JSON.stringify(text));
  return path;
}

const monotonic = () => 0;
const observe = () => undefined;

describe("a kubeconfig", () => {
  test("is followed with its token, to http on this machine", async () => {
    const server = await startFakeApiServer();
    const path = await kubeconfig(`${server.url}/behind/a/gateway/`, { token: "t-1" });
    const { api, namespace } = await createKubeApi({ kubeconfig: path, environment: {}, monotonic, observe });
    await api.get(leaseType, { namespace: "a", name: "one" }).catch(() => undefined);
    expect(namespace).toBe("default");
    expect(server.requests[0]).toMatchObject({
      authorization: "Bearer t-1",
      target: "/behind/a/gateway/apis/coordination.k8s.io/v1/namespaces/a/leases/one",
    });
    await api.close();
    await server.close();
  });

  test("has contexts, each with a namespace", async () => {
    const path = await kubeconfig("https://api.example.org", {});
    const options = { kubeconfig: path, environment: {}, monotonic };
    expect(await namespaceOf(options)).toBe("default");
    expect(await namespaceOf({ ...options, context: "two" })).toBe("shops");
    await expect(namespaceOf({ ...options, context: "three" })).rejects.toThrow(/context "three"/);
  });

  test("gives certificates, a basic login and a proxy", async () => {
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    const user = {
      "client-certificate-data": base64("CERT"),
      "client-key-data": base64("KEY"),
      username: "me",
      password: "p",
    };
    const cluster = { "certificate-authority-data": base64("CA"), "proxy-url": "http://proxy.example.org:3128" };
    const path = await kubeconfig("https://api.example.org", user, cluster);
    const source = await fromKubeconfig({ path, monotonic });
    expect(await source.current()).toMatchObject({
      headers: { authorization: `Basic ${base64("me:p")}` },
      tls: { ca: "CA", cert: "CERT", key: "KEY" },
      proxy: "http://proxy.example.org:3128",
    });
  });

  test("asks its exec plugin again after the server refused what it said", async () => {
    const plugin = join(folder, "plugin.sh");
    const credential =
      '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t-%s"}}';
    await writeFile(
      plugin,
      `#!/bin/sh\necho x >> "$0.count"\nprintf '${credential}' "$(wc -l < "$0.count" | tr -d ' ')"\n`,
    );
    await chmod(plugin, 0o700);
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: plugin, interactiveMode: "Never" };
    const source = await fromKubeconfig({ path: await kubeconfig("https://api.example.org", { exec }), monotonic });
    expect((await source.current()).headers["authorization"]).toBe("Bearer t-1");
    expect((await source.current()).headers["authorization"]).toBe("Bearer t-1");
    source.forget();
    expect((await source.current()).headers["authorization"]).toBe("Bearer t-2");
  });

  test("that can't be read is refused without quoting it", async () => {
    const path = join(folder, "broken");
    await writeFile(path, "users: [ {token: hunter2\n  : ]");
    const failure = await fromKubeconfig({ path, monotonic }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(NoCluster);
    expect((failure as Error).stack).not.toContain("hunter2");
    await expect(fromKubeconfig({ path: join(folder, "none"), monotonic })).rejects.toBeInstanceOf(NoCluster);
  });
});

describe("a service account", () => {
  async function mounted(token: string): Promise<string> {
    const mount = join(folder, "mount");
    await mkdir(mount, { recursive: true });
    for (const [name, text] of Object.entries({ token, "ca.crt": `CA of ${token}`, namespace: "jsonplane-system" })) {
      await writeFile(join(mount, name), text);
    }
    return mount;
  }

  test("is taken where there is one and no kubeconfig was named", async () => {
    const serviceAccount = await mounted("t-1");
    const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
    expect(await namespaceOf({ environment, monotonic, serviceAccount })).toBe("jsonplane-system");
    const path = await kubeconfig("https://api.example.org", {});
    expect(await namespaceOf({ kubeconfig: path, environment, monotonic, serviceAccount })).toBe("default");
  });

  test("has its token and authority read again after ten seconds, and at once when they were refused", async () => {
    const time = manualTime();
    const source = await inCluster({
      host: "10.0.0.1",
      port: "443",
      folder: await mounted("t-1"),
      monotonic: time.monotonic,
    });
    const token = async () => (await source.current()).headers["authorization"];
    expect(await token()).toBe("Bearer t-1");
    await mounted("t-2");
    await time.advance(9_999);
    expect(await token()).toBe("Bearer t-1");
    await time.advance(1);
    expect(await source.current()).toMatchObject({
      headers: { authorization: "Bearer t-2" },
      tls: { ca: "CA of t-2" },
    });
    await mounted("t-3");
    source.forget();
    expect(await token()).toBe("Bearer t-3");
  });
});

test("plain http is refused beyond this machine", () => {
  for (const url of ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:1", "https://api.example.org"]) {
    expect(serverUrl(url).href).toContain(new URL(url).host);
  }
  for (const url of [
    "http://api.example.org",
    "http://127.0.0.1.example.org",
    "ftp://localhost",
    "localhost:8080",
    "",
  ]) {
    expect(() => serverUrl(url)).toThrow(NoCluster);
  }
});
