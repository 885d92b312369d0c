import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { packImage } from "../../tools/image/pack.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { imageBuild, imageName } from "../support/chart/image-build.ts";

const { built, jsonplane } = imageBuild();
let folder = "";
let root = "";
let config: { readonly config: Readonly<Record<string, unknown>> };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-image-test-"));
  const unpacked = join(folder, "unpacked");
  root = join(folder, "root");
  await mkdir(unpacked);
  await mkdir(root);
  await run("tar", "-xf", jsonplane.file, "-C", unpacked);
  const [manifest] = JSON.parse(await readFile(join(unpacked, "manifest.json"), "utf8"));
  config = JSON.parse(await readFile(join(unpacked, manifest.Config), "utf8"));
  await run("tar", "-xf", join(unpacked, manifest.Layers[0]), "-C", root);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function run(command: string, ...args: readonly string[]): Promise<string> {
  const done = await runCommand(command, args);
  expect(done.code, done.stderr).toBe(0);
  return done.stdout;
}

/**
 * Runs Node out of the image as its user, with nothing of this machine in sight. Who isn't root is
 * root in a namespace.
 */
function node(...args: readonly string[]) {
  const env = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", NODE_ENV: "production" };
  if (process.getuid?.() === 0) return runCommand("chroot", ["--userspec=65532:65532", root, "node", ...args], { env });
  return runCommand("unshare", ["--user", "--map-root-user", "chroot", root, "node", ...args], { env });
}

const inside = (...args: readonly string[]) => node("/app/dist/cli/main.js", ...args);

it("is the same, byte by byte, when it is packed twice, whatever the time and the umask", async () => {
  const mask = process.umask(0o077);
  try {
    const again = await packImage("jsonplane", { folder: join(folder, "again"), built, name: imageName });
    await run("cmp", jsonplane.file, again.file);
  } finally {
    process.umask(mask);
  }
});

it("runs as a user who isn't root and whom Kubernetes can tell by number", () => {
  expect(config.config["User"]).toBe("65532:65532");
});

it("holds no program but Node, and nothing that others than root may change", async () => {
  const programs = await run("find", root, "-path", "*/bin/*", "-type", "f", "-not", "-path", "*/node_modules/*");
  expect(programs.trim()).toBe(join(root, "usr/local/bin/node"));
  const writable = await run("find", root, "-perm", "/022", "-not", "-type", "l");
  expect(writable.trim()).toBe(join(root, "tmp"));
});

it("prints its version out of its own root file system", async () => {
  const done = await inside("--version");
  const { version } = JSON.parse(await readFile(join(root, "app/package.json"), "utf8"));
  expect({ ...done, stdout: done.stdout.trim() }).toEqual({ code: 0, stdout: version, stderr: "" });
});

it("refuses to start a replica that isn't told where Redis is, and says so", async () => {
  const done = await inside("dataplane");
  expect(done.code).toBe(2);
  expect(done.stderr).toContain("--redis");
});

it("hashes a password: the compiled module finds its libraries", async () => {
  const script = 'import("/app/node_modules/argon2/argon2.cjs").then((a) => a.default.hash("x")).then(console.log)';
  const done = await node("-e", script);
  expect(done.stderr).toBe("");
  expect(done.stdout).toContain("$argon2id$");
});
