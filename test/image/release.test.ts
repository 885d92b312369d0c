// What `npm run release -- --dry-run` leaves: every file of a release, each used as its users do.

import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findHelm } from "../../tools/parts/helm.ts";
import { baseNodeVersion, platforms } from "../../tools/parts/image-base.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { root } from "../../tools/read-crds.ts";
import { importCommand } from "../../tools/release/airgap.ts";
import { buildRelease, type Release } from "../../tools/release/build-release.ts";
import { objectsIn } from "../support/chart/helm.ts";
import { imageBuild } from "../support/chart/image-build.ts";
import { startApiServer } from "../support/kubernetes/api-server/api-server.ts";

const { built } = imageBuild();
let work = "";
let folder = "";
let release: Release;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), "jsonplane-release-test-"));
  folder = join(work, "release");
  release = await buildRelease({ folder, registry: "registry.example.org/acme", built });
});

afterAll(() => rm(work, { recursive: true, force: true }));

async function run(command: string, ...args: readonly string[]): Promise<string> {
  const done = await runCommand(command, args, { cwd: folder });
  expect(done.code, done.stderr).toBe(0);
  return done.stdout;
}

const json = async (...path: readonly string[]) => JSON.parse(await readFile(join(...path), "utf8"));

it("has image, chart, packages, manifests, SBOM, notes, what it was tested with, and a checksum of each", async () => {
  const { version, files } = release;
  expect(files).toEqual([
    "checksums.txt",
    "install.yaml",
    `jsonplane-airgap-${version}.tar`,
    `jsonplane-chart-${version}.tgz`,
    `jsonplane-client-npm-${version}.tgz`,
    `jsonplane-image-${version}.tar`,
    `jsonplane-npm-${version}.tgz`,
    "notes.md",
    "sbom.cdx.json",
    "support.md",
  ]);
  await run("sha256sum", "--check", "--strict", "checksums.txt");
  const named = (await readFile(join(folder, "checksums.txt"), "utf8")).match(/\S+$/gm);
  expect(named).toEqual(files.filter((name) => name !== "checksums.txt"));
});

it("has image, chart and manifests in one archive, too, with checksums and what to type", async () => {
  const { version, image } = release;
  await run("tar", "-xf", `jsonplane-airgap-${version}.tar`, "-C", work);
  const unpacked = join(work, `jsonplane-${version}`);
  await run("sh", "-c", `cd ${unpacked} && sha256sum --check --strict checksums.txt`);
  const [inner = "", outer = ""] = await Promise.all(
    [unpacked, folder].map((at) => readFile(join(at, "checksums.txt"), "utf8")),
  );
  const shared = inner.split("\n").filter((line) => line !== "" && outer.includes(line));
  expect(shared.map((line) => line.split("  ")[1])).toEqual([
    "install.yaml",
    `jsonplane-chart-${version}.tgz`,
    `jsonplane-image-${version}.tar`,
  ]);
  expect(inner).toMatch(/ {2}deploy\/ha\/secrets\.sh$/m);
  const page = await readFile(join(unpacked, "README.md"), "utf8");
  expect(page).toContain(image.split("@")[1]);
  expect(page).toContain(importCommand(image, `jsonplane-image-${version}.tar`));
});

it("is the same, byte by byte, when it is made twice, whatever the time and the umask", async () => {
  const mask = process.umask(0o077);
  try {
    const again = await buildRelease({ folder: join(work, "again"), registry: "registry.example.org/acme", built });
    expect(await readFile(join(work, "again/checksums.txt"), "utf8")).toBe(
      await readFile(join(folder, "checksums.txt"), "utf8"),
    );
    expect(again).toEqual(release);
  } finally {
    process.umask(mask);
    await rm(join(work, "again"), { recursive: true, force: true });
  }
});

describe("the image", () => {
  let layout = "";
  const blob = (digest: string) => join(layout, "blobs", digest.replace(":", "/"));
  const roots = new Map<string, string>();

  beforeAll(async () => {
    layout = join(work, "layout");
    await mkdir(layout);
    await run("tar", "-xf", `jsonplane-image-${release.version}.tar`, "-C", layout);
    const [entry] = (await json(layout, "index.json")).manifests;
    expect(release.image).toBe(`registry.example.org/acme/jsonplane:${release.version}@${entry.digest}`);
    const { manifests } = await json(blob(entry.digest));
    for (const { digest, platform } of manifests) {
      const { layers, config } = await json(blob(digest));
      const { architecture, config: settings } = await json(blob(config.digest));
      expect([architecture, settings.Entrypoint]).toEqual([platform.architecture, ["node", "/app/dist/cli/main.js"]]);
      const unpacked = join(work, platform.architecture);
      await mkdir(unpacked);
      for (const layer of layers) await run("tar", "-xzf", blob(layer.digest), "-C", unpacked);
      roots.set(platform.architecture, unpacked);
    }
  });

  it("is for amd64 and arm64: Node, its libraries and the compiled module are of the platform", async () => {
    expect([...roots.keys()]).toEqual(["amd64", "arm64"]);
    const machines: Readonly<Record<string, number>> = { amd64: 62, arm64: 183 };
    for (const { architecture, node, libraries, loader } of platforms) {
      const unpacked = roots.get(architecture) ?? "";
      const modules = (await readdir(join(unpacked, "app/node_modules/argon2/prebuilds"), { recursive: true })).filter(
        (name) => name.endsWith(".node"),
      );
      expect(modules).toHaveLength(1);
      const files = [
        ...["usr/local/bin/node", loader, `${libraries}/libc.so.6`],
        ...modules.map((name) => `app/node_modules/argon2/prebuilds/${name}`),
      ];
      expect(modules[0]).toContain(`linux-${node}/`);
      for (const file of files) {
        // e_machine of the ELF header.
        expect((await readFile(join(unpacked, file))).readUInt16LE(18), file).toBe(machines[architecture]);
      }
    }
  });

  it("runs on this machine out of its own root file system", async () => {
    const own = roots.get(platforms.find(({ node }) => node === process.arch)?.architecture ?? "") ?? "";
    const args = ["chroot", own, "node", "/app/dist/cli/main.js", "--version"];
    const isRoot = process.getuid?.() === 0;
    const [command = "", ...rest] = isRoot ? args : ["unshare", "--user", "--map-root-user", ...args];
    expect(await run(command, ...rest)).toBe(`${release.version}\n`);
  });

  it("holds no npm package that the SBOM doesn't name, and the SBOM names what lies below the program", async () => {
    const { components } = await json(folder, "sbom.cdx.json");
    const named = new Set(components.map(({ name, version }: Component) => `${name} ${version}`));
    const packages = join(roots.get("amd64") ?? "", "app/node_modules");
    const held = (await readdir(packages, { recursive: true })).filter((path) =>
      /^((.*\/)?node_modules\/)?(@[^/]+\/)?[^/@]+\/package\.json$/.test(path),
    );
    const descriptions: readonly Component[] = await Promise.all(held.map((path) => json(packages, path)));
    const unnamed = descriptions.filter(({ name, version }) => !named.has(`${name} ${version}`));
    expect([unnamed, descriptions.length > 50]).toEqual([[], true]);
    expect(named).toContain(`node ${baseNodeVersion}`);
    expect(components.filter(({ name }: Component) => name === "libc6")).toHaveLength(platforms.length);
    expect(components.filter(({ name }: Component) => ["vitest", "typescript", "vite"].includes(name))).toEqual([]);
  });
});

interface Component {
  readonly name: string;
  readonly version: string;
}

it("the chart starts the image that it was released with", async () => {
  const file = `jsonplane-chart-${release.version}.tgz`;
  const text = await run(await findHelm(process.env), "template", "jsonplane", file, "--kube-version", "1.36.0");
  const images = objectsIn(text).flatMap((object) => [...JSON.stringify(object).matchAll(/"image":"([^"]+)"/g)]);
  const own = images.map(([, image = ""]) => image).filter((image) => !image.startsWith("redis:"));
  expect([...new Set(own)]).toEqual([release.image]);
  const description = await run(await findHelm(process.env), "show", "chart", file);
  expect(description).toMatch(new RegExp(`^version: ${release.version}$`, "m"));
});

it("an empty API server takes install.yaml whole, with the image that it was released with", async () => {
  const api = await startApiServer({ crds: false });
  try {
    const text = await readFile(join(folder, "install.yaml"), "utf8");
    const applied = await api.kubectl(["apply", "--server-side", "-f", join(folder, "install.yaml")]);
    expect(applied.trim().split("\n")).toHaveLength(objectsIn(text).length);
    const path = "jsonpath={.items[*].spec.template.spec.containers[*].image}";
    const images = await api.kubectl(["get", "deployments", "-n", "jsonplane-system", "-o", path]);
    expect(images.split(" ")).toEqual([release.image, release.image]);
  } finally {
    await api.stop();
  }
});

it("the npm package has the command, compiled", async () => {
  await run("tar", "-xzf", `jsonplane-npm-${release.version}.tgz`, "-C", work);
  await symlink(join(root, "node_modules"), join(work, "package/node_modules"));
  expect(await readdir(join(work, "package"))).toEqual(expect.arrayContaining(["LICENSE", "README.md", "examples"]));
  expect(await run(process.execPath, join(work, "package/dist/cli/main.js"), "--version")).toBe(`${release.version}\n`);
});

it("the client's package has the module and its types", async () => {
  const names = (await run("tar", "-tzf", `jsonplane-client-npm-${release.version}.tgz`)).trim().split("\n");
  expect(names).toEqual(expect.arrayContaining(["index.js", "index.d.ts", "LICENSE"].map((name) => `package/${name}`)));
});

it("the Node of the image is the one that the repository fetches for itself", async () => {
  const script = await readFile(join(root, "tools/parts/node.sh"), "utf8");
  expect(script).toContain(`\nversion=${baseNodeVersion}\n`);
});
