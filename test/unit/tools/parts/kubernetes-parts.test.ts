import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findHelm } from "../../../../tools/parts/helm.ts";
import { findKubernetes } from "../../../../tools/parts/kubernetes.ts";
import { PartMissing } from "../../../../tools/parts/part-missing.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-parts-"));
  vi.spyOn(console, "error").mockImplementation(() => undefined);
});

afterEach(async () => {
  vi.restoreAllMocks();
  await rm(folder, { recursive: true, force: true });
});

/** A program that says these words, whatever it is asked. */
async function program(path: string, words: string): Promise<string> {
  return script(path, `echo '${words}'`);
}

async function script(path: string, body: string): Promise<string> {
  const whole = join(folder, path);
  await mkdir(join(whole, ".."), { recursive: true });
  await writeFile(whole, `#!/bin/sh\n${body}\n`);
  await chmod(whole, 0o755);
  return whole;
}

/** All four in one folder, of one version. */
async function programs(where: string, version: string): Promise<string> {
  await program(`${where}/kube-apiserver`, `Kubernetes v${version}`);
  await program(`${where}/kube-controller-manager`, `Kubernetes v${version}`);
  await program(`${where}/kubectl`, `Client Version: v${version}`);
  await program(`${where}/etcd`, "etcd Version: 3.6.4");
  return join(folder, where);
}

/** A Go that "builds" by writing a program of the pinned version, and knows nothing else. */
async function fakeGo(version: string): Promise<string> {
  const says = "case \"$0\" in */etcd) echo 'etcd Version: 3.7.3';; */helm) echo v4.3.1;; *) echo v1.36.3;; esac";
  await script("template", says);
  const copy = 'while [ "$1" != -o ]; do shift; done; /bin/cp "$(/usr/bin/dirname "$0")/../template" "$2"';
  await script("go/go", `if [ "$1" = env ]; then echo go${version}; exit; fi\n${copy}`);
  return join(folder, "go");
}

const cache = () => join(folder, "cache");

describe("a Kubernetes", () => {
  it("is the one whose folder the environment names", async () => {
    const assets = await programs("assets", "1.34.1");
    const found = await findKubernetes({ KUBEBUILDER_ASSETS: assets, PATH: "" });
    expect(found).toEqual({
      kubeApiserver: join(assets, "kube-apiserver"),
      etcd: join(assets, "etcd"),
      kubectl: join(assets, "kubectl"),
      kubeControllerManager: join(assets, "kube-controller-manager"),
      version: "1.34.1",
    });
  });

  it("takes one program from elsewhere when the environment names it", async () => {
    const assets = await programs("assets", "1.34.1");
    const own = await program("own/etcd", "etcd Version: 3.5.9");
    const found = await findKubernetes({ KUBEBUILDER_ASSETS: assets, TEST_ASSET_ETCD: own, PATH: "" });
    expect(found.etcd).toBe(own);
  });

  it("is refused when the environment names something else than a program", async () => {
    const missing = findKubernetes({ TEST_ASSET_KUBE_APISERVER: join(folder, "gone"), PATH: "" });
    await expect(missing).rejects.toThrow(/TEST_ASSET_KUBE_APISERVER names .*gone/);
  });

  it("is found on the PATH", async () => {
    const path = await programs("bin", "1.33.0");
    expect(await findKubernetes({ PATH: path, JSONPLANE_CACHE: cache() })).toMatchObject({
      kubeApiserver: join(path, "kube-apiserver"),
      version: "1.33.0",
    });
  });

  it("is built with Go, once, where the PATH has only what is too old", async () => {
    const path = await programs("bin", "1.32.4");
    const PATH = `${path}:${await fakeGo("1.26.1")}`;
    const env = { PATH, JSONPLANE_CACHE: cache() };
    const found = await findKubernetes(env);
    expect(found).toEqual({
      kubeApiserver: join(cache(), "kubernetes-1.36.3/kube-apiserver/kube-apiserver"),
      // Etcd has versions of its own.
      etcd: join(path, "etcd"),
      kubectl: join(cache(), "kubernetes-1.36.3/kubectl/kubectl"),
      kubeControllerManager: join(cache(), "kubernetes-1.36.3/kube-controller-manager/kube-controller-manager"),
      version: "1.36.3",
    });
    expect(vi.mocked(console.error).mock.calls.map(([line]) => line)).toEqual([
      "building kube-apiserver, some 4 minutes, once",
      "building kubectl, some 30 seconds, once",
      "building kube-controller-manager, some 2 minutes, once",
    ]);
    expect(await findKubernetes({ ...env, PATH: path })).toEqual(found);
  });

  it("comes with a kubectl of nearly its own version, not the one of the PATH that is further off", async () => {
    const path = await programs("bin", "1.34.0");
    const newest = await programs("newest", "1.36.0");
    const PATH = `${path}:${await fakeGo("1.26.1")}`;
    const env = { PATH, JSONPLANE_CACHE: cache(), TEST_ASSET_KUBE_APISERVER: join(newest, "kube-apiserver") };
    expect((await findKubernetes(env)).kubectl).toBe(join(cache(), "kubernetes-1.36.3/kubectl/kubectl"));
    const near = { ...env, TEST_ASSET_KUBE_APISERVER: await program("near/kube-apiserver", "Kubernetes v1.35.9") };
    expect((await findKubernetes(near)).kubectl).toBe(join(path, "kubectl"));
  });

  it("that is missing where Go is, too, is told with what to do", async () => {
    const missing = findKubernetes({ PATH: join(folder, "empty"), JSONPLANE_CACHE: cache() });
    await expect(missing).rejects.toBeInstanceOf(PartMissing);
    await expect(missing).rejects.toThrow(
      /kube-apiserver is missing, and so is Go.*\n.*install Go .*\n.*setup-envtest/,
    );
  });

  it("is not built by a Go that can't bring the one that is needed", async () => {
    const missing = findKubernetes({ PATH: await fakeGo("1.19.8"), JSONPLANE_CACHE: cache() });
    await expect(missing).rejects.toThrow(/older than Go 1\.21/);
  });

  it("whose build fails is told with Go's own words, and leaves nothing in the cache", async () => {
    await script("go/go", 'if [ "$1" = env ]; then echo go1.26.1; exit; fi; echo no network >&2; exit 1');
    const missing = findKubernetes({ PATH: join(folder, "go"), JSONPLANE_CACHE: cache() });
    await expect(missing).rejects.toThrow(/Go couldn't build kube-apiserver:\nno network/);
    await expect(findKubernetes({ PATH: "", JSONPLANE_CACHE: cache() })).rejects.toThrow("is missing");
  });

  it("that is in the cache with another version is not used", async () => {
    await program("cache/kubernetes-1.36.3/kube-apiserver/kube-apiserver", "Kubernetes v1.30.0");
    const broken = findKubernetes({ PATH: "", JSONPLANE_CACHE: cache() });
    await expect(broken).rejects.toThrow(/says 1\.30\.0, not 1\.36\.3: delete .*kube-apiserver and run this again/);
  });
});

describe("a Helm", () => {
  it("is the one that the environment names, or the one on the PATH when it is a Helm 4", async () => {
    const own = await program("own/helm", "v4.0.1+gabcdef");
    expect(await findHelm({ JSONPLANE_HELM: own, PATH: "" })).toBe(own);
    expect(await findHelm({ PATH: join(folder, "own") })).toBe(own);
  });

  it("is built where there is only a Helm 3", async () => {
    await program("old/helm", "v3.19.0+gabcdef");
    const env = { PATH: `${join(folder, "old")}:${await fakeGo("1.26.1")}`, JSONPLANE_CACHE: cache() };
    expect(await findHelm(env)).toBe(join(cache(), "helm-4.3.1/helm/helm"));
  });
});
