import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { withPartLock } from "../../../../tools/parts/part-lock.ts";

const lockModule = fileURLToPath(new URL("../../../../tools/parts/part-lock.ts", import.meta.url));
let env: { readonly JSONPLANE_CACHE: string };

beforeEach(async () => {
  env = { JSONPLANE_CACHE: await mkdtemp(join(tmpdir(), "jsonplane-lock-")) };
});
afterEach(() => rm(env.JSONPLANE_CACHE, { recursive: true, force: true }));

it("two that want one part come one after the other, and the second says that it waits", async () => {
  const order: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let entered: () => void = () => undefined;
  const inside = new Promise<void>((resolve) => {
    entered = resolve;
  });
  const first = withPartLock(env, "etcd", async () => {
    entered();
    await held;
    order.push("first");
  });
  await inside;
  const second = withPartLock(env, "etcd", async () => void order.push("second"), {
    onWait: () => {
      order.push("waits");
      release();
    },
  });
  await Promise.all([first, second]);
  expect(order).toEqual(["waits", "first", "second"]);
});

it("two parts have a lock each", async () => {
  await withPartLock(env, "etcd", () => withPartLock(env, "helm 4", async () => undefined));
});

it("a lock goes with the process that held it, however that ended", async () => {
  const program = `const { withPartLock } = await import(${JSON.stringify(lockModule)});
    // Nothing leads to the work, nor to what it waits for: only the lock itself is left.
    void withPartLock(process.env, "etcd", () => new Promise(() => {
      setInterval(() => { gc(); console.log("held"); }, 50);
    }));`;
  const holder = spawn(process.execPath, ["--expose-gc", "--input-type=module", "-e", program], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void holder.kill("SIGKILL"));
  await once(holder.stdout, "data");
  const waited: string[] = [];
  await withPartLock(env, "etcd", async () => void waited.push("in"), {
    onWait: () => {
      waited.push("waits");
      holder.kill("SIGKILL");
    },
  });
  expect(waited).toEqual(["waits", "in"]);
});

it("what fails inside leaves the lock free", async () => {
  await expect(withPartLock(env, "etcd", () => Promise.reject(new Error("no network")))).rejects.toThrow("no network");
  expect(await withPartLock(env, "etcd", async () => "free")).toBe("free");
});

it("a lock that can't be used is named: SQLite would open one for reading that it can't write", async () => {
  await mkdir(join(env.JSONPLANE_CACHE, "locks/etcd.lock"), { recursive: true });
  await expect(withPartLock(env, "etcd", async () => undefined)).rejects.toThrow(
    /The lock .*locks\/etcd\.lock can't be used \(/,
  );
  await writeFile(
    join(env.JSONPLANE_CACHE, "locks/helm.lock"),
    "no database, but as long as the head of one".repeat(40),
  );
  await expect(withPartLock(env, "helm", async () => undefined)).rejects.toThrow(
    /The lock .*locks\/helm\.lock can't be used \(/,
  );
});
