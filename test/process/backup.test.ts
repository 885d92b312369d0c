// `jsonplane backup`, as the chart's CronJob runs it: to a folder and to a bucket.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createBucket } from "../../cli/backup/places/bucket.ts";
import { createFolder } from "../../cli/backup/places/folder.ts";
import { configKeys, keyOfProject } from "../../core/config/config-keys.ts";
import { programFile } from "../support/fleet/program-process.ts";
import { openRedisClient } from "../support/fleet/publishing.ts";
import { startTcpProxy } from "../support/process/tcp-proxy.ts";
import { documentedUrl } from "../support/redis/redis-acl.ts";
import { objectOf } from "../support/store/stored-objects.ts";
import { eventually } from "../support/time/eventually.ts";
import {
  anew,
  backup,
  bucketFlags,
  count,
  logged,
  placeInFolder,
  redis,
  report,
  restore,
  s3,
  shop,
  store,
  stored,
} from "./backed-up-projects.ts";

/** Like a proxy in front of no service. */
const agreeing = createServer((request, response) => request.resume().on("end", () => response.end()));

beforeAll(async () => {
  await once(agreeing.listen(0, "127.0.0.1"), "listening");
});
afterAll(() => void agreeing.close());

describe("a backup", () => {
  it("keeps the newest ones of each Project, and files of others", async () => {
    const path = join(placeInFolder(), "default/shop");
    const names: string[] = [];
    for (let at = 0; at < 3; at += 1) {
      expect((await backup(placeInFolder(), "--keep", "2")).code).toBe(0);
      if (at === 0) await writeFile(join(path, "0000-notes.txt"), "mine");
      names.push(
        (await readdir(path))
          .filter((name) => name.endsWith(".gz"))
          .sort()
          .at(-1) ?? "",
      );
    }
    expect((await readdir(path)).sort()).toEqual(["0000-notes.txt", ...names.slice(1)]);
  });

  it("stays where the clock was ahead of it before", async () => {
    const path = join(placeInFolder(), "default/shop");
    await mkdir(path, { recursive: true });
    const ahead = ["2090-01-01T00-00-00.000Z.ndjson.gz", "2091-01-01T00-00-00.000Z.ndjson.gz"];
    for (const name of ahead) await writeFile(join(path, name), "");
    await backup(placeInFolder(), "--keep", "2");
    expect((await readdir(path)).sort()).toEqual([expect.stringMatching(/^20[2-8]/), ahead[1]]);
  });

  it("is refused where Redis loses its data, so that no older one goes", async () => {
    await backup(placeInFolder(), "--keep", "1");
    const complete = (await restore(placeInFolder())).out;
    const { child, proxy } = await backupThatWaits("--keep", "1");
    await anew();
    const admin = await openRedisClient(redis.url);
    await admin.write(configKeys.meta, "HSET", configKeys.meta, "data_loss", "it");
    admin.disconnect();
    proxy.release();
    expect(await once(child, "exit")).toEqual([1, null]);
    await proxy.stop();
    const later = await backup(placeInFolder(), "--keep", "1");
    expect(later).toMatchObject({ code: 1, out: "", error: expect.stringContaining("Redis has lost its data") });
    expect((await restore(placeInFolder())).out).toBe(complete);
  });

  it("doesn't get in the way of another one at the same time", async () => {
    const place = createFolder(placeInFolder());
    const numbers = Array.from({ length: 30 }, (_, at) => at);
    async function* content() {
      yield Buffer.from("x");
    }
    const writeAll = async (one: string) => {
      for (const at of numbers) await place.write(`default/shop/${one}-${at}`, content());
    };
    await Promise.all(["a", "b", "c", "d"].map(writeAll));
    expect(await place.names("default/shop")).toHaveLength(4 * numbers.length);
  });

  it.each([
    ["SIGKILL", null],
    ["SIGTERM", 143],
  ] as const)("that ends by %s leaves no backup, removes none, and has failed", async (signal, code) => {
    await backup(placeInFolder(), "--keep", "1");
    const complete = (await restore(placeInFolder())).out;
    const { child, proxy } = await backupThatWaits("--keep", "1");
    const drafts = async () =>
      (await readdir(join(placeInFolder(), "default/shop"))).filter((name) => name.includes("unfinished"));
    await eventually(async () => expect(await drafts()).toHaveLength(1));
    child.kill(signal);
    const ended = once(child, "exit");
    await proxy.stop();
    expect((await ended)[0]).toBe(code);
    expect((await restore(placeInFolder())).out).toBe(complete);
  });

  it("has what is written while it reads, where changes are logged", async () => {
    // The first client that follows them begins the log.
    await store.newestChange(logged);
    const { child, proxy } = await backupThatWaits();
    const [first = "", second = ""] = (await stored()).books;
    await store.replace(logged, objectOf(0, { isbn: '"a"' }), { text: first });
    await store.removeUnchanged(logged, objectOf(1, {}).id, { text: second });
    await store.create(logged, objectOf(count, { isbn: '"b"' }), 10_000);
    const before = await stored();
    proxy.release();
    expect(await once(child, "exit")).toEqual([0, null]);
    await proxy.stop();
    await anew();
    expect((await restore(placeInFolder(), "--projects", "*")).code).toBe(0);
    expect(await stored()).toEqual(before);
  });

  /** It has read the objects, and doesn't go on before the proxy does. */
  async function backupThatWaits(...words: readonly string[]) {
    const proxy = await startTcpProxy(redis.port);
    const url = documentedUrl(redis, "jsonplane-backup").replace(`:${redis.port}`, `:${proxy.port}`);
    const held = proxy.holdFrom(/shop\/json\/flags/);
    const child = spawn(process.execPath, [programFile, "backup", placeInFolder(), "--redis", url, ...words]);
    await Promise.race([held, once(child, "exit")]);
    return { child, proxy };
  }

  it.each([
    ["a folder that isn't there", "/nowhere/at/all", () => [], /ENOENT/],
    ["a bucket that isn't there", "s3://nobodys/x", bucketFlags, /404 NoSuchBucket/],
    [
      "a wrong key",
      "s3://backups/x",
      () => [...bucketFlags(), "--s3-secret-access-key", "x"],
      /403 SignatureDoesNotMatch/,
    ],
    [
      "a service that is gone",
      "s3://backups/x",
      () => [...bucketFlags(), "--s3-endpoint", "http://127.0.0.1:9"],
      /can't be reached/,
    ],
    [
      "what agrees to anything",
      "s3://backups/x",
      () => [...bucketFlags(), "--s3-endpoint", `http://127.0.0.1:${(agreeing.address() as AddressInfo).port}`],
      /The bucket has no bytes of x\/default\/shop/,
    ],
  ] as const)("to %s fails with the reason, and doesn't count", async (_what, place, words, why) => {
    const failed = await backup(place, ...words());
    expect([failed.code, await report()]).toEqual([1, undefined]);
    expect(failed.error).toMatch(why);
  });

  it("has failed where a Project's inventory can't be read, and has the others", async () => {
    const admin = await openRedisClient(redis.url);
    await admin.write(configKeys.data, "HSET", configKeys.data, keyOfProject(shop), "{");
    admin.disconnect();
    const failed = await backup(placeInFolder());
    expect(failed).toMatchObject({ code: 1, out: expect.stringContaining("team-a/blog: 3 objects") });
    expect([failed.error, await report()]).toEqual([expect.stringContaining("default/shop is not"), undefined]);
  });

  it("of some Projects has no others, and doesn't count as one of all", async () => {
    expect((await backup(placeInFolder(), "--projects", "team-a/*")).code).toBe(0);
    expect([await readdir(placeInFolder()), await report()]).toEqual([["team-a"], undefined]);
  });

  it("of several parts appears in a bucket once it is whole, or not at all", async () => {
    const { endpoint: s3Endpoint, accessKeyId: s3AccessKeyId, secretAccessKey: s3SecretAccessKey, bucket } = s3;
    const credentials = { s3Endpoint, s3Region: "us-east-1", s3AccessKeyId, s3SecretAccessKey };
    const place = createBucket({ ...credentials, bucket, prefix: "", partBytes: 5 * 1024 * 1024 });
    const content = Buffer.alloc(12 * 1024 * 1024, "content");
    async function* pieces(fails: boolean) {
      for (let at = 0; at < content.length; at += 100_000) yield content.subarray(at, at + 100_000);
      if (fails) throw new Error("broken off");
    }
    await expect(place.write("parts/broken", pieces(true))).rejects.toThrow("broken off");
    await place.write("parts/whole", pieces(false));
    expect(await place.names("parts")).toEqual(["parts/whole"]);
    expect(Buffer.concat(await Array.fromAsync(place.read("parts/whole"))).equals(content)).toBe(true);
  });
});
