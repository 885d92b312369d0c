import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Environment } from "../../../../tools/parts/cache.ts";
import { findHelm, helm } from "../../../../tools/parts/helm.ts";
import {
  etcd,
  findKubernetes,
  kubeApiserver,
  kubeControllerManager,
  kubectl,
} from "../../../../tools/parts/kubernetes.ts";
import { type Part, PartMissing } from "../../../../tools/parts/part.ts";
import { type FakePrograms, fakePrograms, noting } from "./fake-programs.ts";

let fakes: FakePrograms;

beforeEach(async () => {
  fakes = await fakePrograms();
});
afterEach(() => fakes.remove());

/** All four in one folder, of one version. */
async function programs(where: string, version: string): Promise<string> {
  await fakes.says(`${where}/kube-apiserver`, `Kubernetes v${version}`);
  await fakes.says(`${where}/kube-controller-manager`, `Kubernetes v${version}`);
  await fakes.says(`${where}/kubectl`, `Client Version: v${version}`);
  await fakes.says(`${where}/etcd`, "etcd Version: 3.6.4");
  return fakes.at(where);
}

/**
 * A Go that "builds" by writing a program of the pinned version, and has two packages to compile
 * for it.
 */
async function fakeGo(version: string): Promise<string> {
  const says = "case \"$0\" in */etcd) echo 'etcd Version: 3.7.3';; */helm) echo v4.3.1;; *) echo v1.36.3;; esac";
  await fakes.script("template", says);
  const copy = 'while [ "$1" != -o ]; do shift; done; /bin/cp "$(/usr/bin/dirname "$0")/../template" "$2"';
  const list = 'if [ "$1" = list ]; then echo; echo .; echo .; exit; fi\necho one >&2; echo two >&2';
  await fakes.script("go/go", `if [ "$1" = env ]; then echo go${version}; exit; fi\n${list}\n${copy}`);
  return fakes.at("go");
}

const cache = () => fakes.at("cache");

async function bringMissing(env: Environment, parts: readonly Part[]): Promise<readonly string[]> {
  const brought: string[] = [];
  for (const part of parts) {
    if (await part.find(env)) continue;
    await part.bring(env, noting());
    brought.push(part.name);
  }
  return brought;
}

const kubernetes = [kubeApiserver, etcd, kubectl, kubeControllerManager];

describe("a Kubernetes", () => {
  it("is the one whose folder the environment names, without asking its programs anything", async () => {
    const assets = fakes.at("assets");
    for (const name of ["kube-apiserver", "etcd", "kubectl", "kube-controller-manager"]) {
      await fakes.script(`assets/${name}`, `echo asked >> ${fakes.at("asked")}; exit 1`);
    }
    const found = await findKubernetes({ KUBEBUILDER_ASSETS: assets, PATH: "" });
    expect(found).toEqual({
      kubeApiserver: join(assets, "kube-apiserver"),
      etcd: join(assets, "etcd"),
      kubectl: join(assets, "kubectl"),
      kubeControllerManager: join(assets, "kube-controller-manager"),
    });
    expect(existsSync(fakes.at("asked"))).toBe(false);
  });

  it("takes one program from elsewhere when the environment names it", async () => {
    const assets = await programs("assets", "1.34.1");
    const own = await fakes.says("own/etcd", "etcd Version: 3.5.9");
    const found = await findKubernetes({ KUBEBUILDER_ASSETS: assets, TEST_ASSET_ETCD: own, PATH: "" });
    expect(found.etcd).toBe(own);
  });

  it("is refused when the environment names something else than a program", async () => {
    const missing = findKubernetes({ TEST_ASSET_KUBE_APISERVER: fakes.at("gone"), PATH: "" });
    await expect(missing).rejects.toThrow(/TEST_ASSET_KUBE_APISERVER names .*gone/);
  });

  it("is found on the PATH", async () => {
    const path = await programs("bin", "1.33.0");
    const env = { PATH: path, JSONPLANE_CACHE: cache() };
    expect(await kubeApiserver.find(env)).toEqual({ path: join(path, "kube-apiserver"), origin: "PATH" });
    expect(await bringMissing(env, kubernetes)).toEqual([]);
  });

  it("is built with Go, once, where the PATH has only what is too old", async () => {
    const path = await programs("bin", "1.29.4");
    const env = { PATH: `${path}:${await fakeGo("1.26.1")}`, JSONPLANE_CACHE: cache() };
    expect(await bringMissing(env, kubernetes)).toEqual(["kube-apiserver", "kubectl", "kube-controller-manager"]);
    const found = await findKubernetes({ ...env, PATH: path });
    expect(found).toEqual({
      kubeApiserver: join(cache(), "kubernetes-1.36.3/kube-apiserver/kube-apiserver"),
      // Etcd has versions of its own.
      etcd: join(path, "etcd"),
      kubectl: join(cache(), "kubernetes-1.36.3/kubectl/kubectl"),
      kubeControllerManager: join(cache(), "kubernetes-1.36.3/kube-controller-manager/kube-controller-manager"),
    });
    expect(await bringMissing(env, kubernetes)).toEqual([]);
  });

  it("is of the minor version that is asked for, from the PATH or the cache, where newer ones are at hand", async () => {
    const path = await programs("bin", "1.36.0");
    const env = { PATH: path, JSONPLANE_CACHE: cache(), JSONPLANE_KUBERNETES_VERSION: "1.30" };
    expect(await kubeApiserver.find(env)).toBeUndefined();
    const cached = await fakes.says("cache/kubernetes-1.30.14/kube-apiserver/kube-apiserver", "Kubernetes v1.30.14");
    expect(await kubeApiserver.find(env)).toEqual({ path: cached, origin: "cache" });
    expect(await kubectl.find(env)).toBeUndefined();
    const older = { ...env, PATH: await programs("older", "1.30.2") };
    expect(await kubeApiserver.find(older)).toMatchObject({ origin: "PATH" });
    const unknown = kubeApiserver.find({ ...env, JSONPLANE_KUBERNETES_VERSION: "1.29" });
    await expect(unknown).rejects.toThrow(/JSONPLANE_KUBERNETES_VERSION is 1\.29: it may be 1\.30, /);
  });

  it("that is older is built from its own pins", async () => {
    const says =
      'if [ "$1" = env ]; then echo go1.26.1; exit; fi; echo "$@" >> "$(/usr/bin/dirname "$0")/asked"; exit 1';
    await fakes.script("go/go", says);
    const env = { PATH: fakes.at("go"), JSONPLANE_CACHE: cache(), JSONPLANE_KUBERNETES_VERSION: "1.30" };
    await expect(kubeApiserver.bring(env, noting())).rejects.toThrow("Go couldn't fetch");
    expect(await readFile(fakes.at("go/asked"), "utf8")).toContain(" -modfile=1.30.mod ");
  });

  it("says while it is built how far it is", async () => {
    const env = { PATH: await fakeGo("1.26.1"), JSONPLANE_CACHE: cache() };
    const options = noting();
    await kubeApiserver.bring(env, options);
    expect(options.progress[0]).toBe("fetching modules");
    expect(options.progress.at(-1)).toBe("2 of 2 packages compiled");
  });

  it("comes with a kubectl of nearly its own version, not the one of the PATH that is further off", async () => {
    const path = await programs("bin", "1.34.0");
    const newest = await programs("newest", "1.36.0");
    const PATH = `${path}:${await fakeGo("1.26.1")}`;
    const env = { PATH, JSONPLANE_CACHE: cache(), TEST_ASSET_KUBE_APISERVER: join(newest, "kube-apiserver") };
    expect(await kubectl.find(env)).toBeUndefined();
    const near = { ...env, TEST_ASSET_KUBE_APISERVER: await fakes.says("near/kube-apiserver", "Kubernetes v1.35.9") };
    expect(await kubectl.find(near)).toEqual({ path: join(path, "kubectl"), origin: "PATH" });
  });

  it("that is missing is told in a test with the command that brings it, and is not built there", async () => {
    const missing = findKubernetes({ PATH: await fakeGo("1.26.1"), JSONPLANE_CACHE: cache() });
    await expect(missing).rejects.toBeInstanceOf(PartMissing);
    await expect(missing).rejects.toThrow(/kube-apiserver is missing\n.*"make parts".*4 minutes[\s\S]*setup-envtest/);
  });

  it("that is missing where Go is, too, is told with what to do", async () => {
    const missing = kubeApiserver.bring({ PATH: fakes.at("empty"), JSONPLANE_CACHE: cache() }, noting());
    await expect(missing).rejects.toBeInstanceOf(PartMissing);
    await expect(missing).rejects.toThrow(
      /kube-apiserver is missing, and so is Go.*\n.*install Go .*\n.*setup-envtest/,
    );
  });

  it("is not built by a Go that can't bring the one that is needed", async () => {
    const missing = kubeApiserver.bring({ PATH: await fakeGo("1.19.8"), JSONPLANE_CACHE: cache() }, noting());
    await expect(missing).rejects.toThrow(/older than Go 1\.21/);
  });

  it.each([
    ["fetched", 'if [ "$1" = list ]; then echo no network >&2; exit 1; fi', "Go couldn't fetch kube-apiserver"],
    ["built", 'if [ "$1" = list ]; then exit; fi; echo no network >&2; exit 1', "Go couldn't build kube-apiserver"],
  ])("that can't be %s is told with Go's own words, and leaves nothing in the cache", async (_, fails, message) => {
    await fakes.script("go/go", `if [ "$1" = env ]; then echo go1.26.1; exit; fi; ${fails}`);
    const env = { PATH: fakes.at("go"), JSONPLANE_CACHE: cache() };
    await expect(kubeApiserver.bring(env, noting())).rejects.toThrow(`${message}:\nno network`);
    expect(await kubeApiserver.find(env)).toBeUndefined();
  });

  it.each(["Kubernetes v1.35.0", ""])(
    "that is damaged in the cache and says %j is missing, so that it is built again",
    async (says) => {
      await fakes.says("cache/kubernetes-1.36.3/kube-apiserver/kube-apiserver", says);
      expect(await kubeApiserver.find({ PATH: "", JSONPLANE_CACHE: cache() })).toBeUndefined();
    },
  );
});

describe("a Helm", () => {
  it("is the one that the environment names, or the one on the PATH when it is a Helm 4", async () => {
    const own = await fakes.says("own/helm", "v4.0.1+gabcdef");
    expect(await findHelm({ JSONPLANE_HELM: own, PATH: "" })).toBe(own);
    expect(await findHelm({ PATH: fakes.at("own") })).toBe(own);
  });

  it("is built where there is only a Helm 3", async () => {
    await fakes.says("old/helm", "v3.19.0+gabcdef");
    const env = { PATH: `${fakes.at("old")}:${await fakeGo("1.26.1")}`, JSONPLANE_CACHE: cache() };
    expect(await bringMissing(env, [helm])).toEqual(["helm 4"]);
    expect(await findHelm(env)).toBe(join(cache(), "helm-4.3.1/helm/helm"));
  });
});
