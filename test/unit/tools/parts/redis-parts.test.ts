import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PartMissing } from "../../../../tools/parts/part.ts";
import { findRedis } from "../../../../tools/parts/redis.ts";
import { redisJson } from "../../../../tools/parts/redis-json.ts";
import { redisServer } from "../../../../tools/parts/redis-server.ts";
import { type FakePrograms, fakePrograms, noting } from "./fake-programs.ts";

let fakes: FakePrograms;

beforeEach(async () => {
  fakes = await fakePrograms();
});
afterEach(() => fakes.remove());

const cache = () => fakes.at("cache");
const pathOf = async (part: typeof redisServer, env: Readonly<Record<string, string>>) => (await part.find(env))?.path;

describe("a Redis server", () => {
  it("is the one that the environment names", async () => {
    const named = await fakes.script("mine/redis-server", "");
    expect(await pathOf(redisServer, { JSONPLANE_REDIS_SERVER: named, PATH: "" })).toBe(named);
  });

  it("is refused when the environment names something else than a program", async () => {
    const missing = redisServer.find({ JSONPLANE_REDIS_SERVER: fakes.at("gone") });
    await expect(missing).rejects.toThrow(/JSONPLANE_REDIS_SERVER names .*gone/);
  });

  it("is found on the PATH", async () => {
    const server = await fakes.says("bin/redis-server", "Redis server v=7.0.15 sha=0");
    expect(await pathOf(redisServer, { PATH: fakes.at("bin") })).toBe(server);
  });

  it("is not what the PATH has of that name and is too old, says no version, is empty or a folder", async () => {
    await fakes.says("old/redis-server", "Redis server v=5.0.7 sha=0");
    await fakes.says("silent/redis-server", "");
    await mkdir(fakes.at("folder/redis-server"), { recursive: true });
    await mkdir(fakes.at("empty"));
    await writeFile(fakes.at("empty/redis-server"), "", { mode: 0o755 });
    for (const name of ["old", "silent", "folder", "empty"]) {
      const found = await redisServer.find({ PATH: fakes.at(name), JSONPLANE_CACHE: cache() });
      expect(found?.origin, name).not.toBe("PATH");
    }
  });

  it("is Debian's under its other name, which needs no service", async () => {
    await fakes.script("bin/redis-check-rdb", "");
    const env = { PATH: fakes.at("bin"), JSONPLANE_CACHE: cache() };
    expect(await redisServer.find(env)).toBeUndefined();
    await redisServer.bring(env, noting());
    expect(await pathOf(redisServer, env)).toBe(join(cache(), "redis-server", "redis-server"));
  });

  it("that can be neither installed nor unpacked is told with the reasons", async () => {
    for (const name of ["apt-get", "dpkg-deb"]) await fakes.script(`bin/${name}`, "echo no network >&2\nexit 100");
    const missing = redisServer.bring({ PATH: fakes.at("bin"), JSONPLANE_CACHE: cache() }, noting());
    await expect(missing).rejects.toBeInstanceOf(PartMissing);
    await expect(missing).rejects.toThrow(/redis-server is missing; .*no network.*; .*no network/s);
  });

  it("that is missing is told in a test with what to do, and is not installed there", async () => {
    await fakes.script("bin/apt-get", `touch ${fakes.at("called")}`);
    const missing = findRedis({ PATH: fakes.at("bin"), JSONPLANE_CACHE: cache() });
    await expect(missing).rejects.toBeInstanceOf(PartMissing);
    await expect(missing).rejects.toThrow(
      /redis-server is missing[\s\S]*"make parts"[\s\S]*apt-get install redis-server[\s\S]*JSONPLANE_REDIS_SERVER/,
    );
    expect(existsSync(fakes.at("called"))).toBe(false);
  });
});

describe.each([
  ["installed", 0, "redis-server/redis-server"],
  ["unpacked, where it can't be installed", 1, "redis-debian/redis-server"],
])("Debian's Redis is %s", (_way, installs, path) => {
  it("when none is on the PATH", async () => {
    const bin = fakes.at("bin");
    // Stands in for apt-get: `install` brings the program, `download` an archive.
    await writeFile(fakes.at("server"), "#!/bin/sh\nexit 0\n", { mode: 0o755 });
    await fakes.script(
      "bin/apt-get",
      `case "$*" in *install*) [ ${installs} = 0 ] && cp ${fakes.at("server")} ${bin}/redis-check-rdb ;; *download*) touch a.deb ;; esac`,
    );
    await fakes.script("bin/dpkg-deb", `mkdir -p usr/bin && cp ${fakes.at("server")} usr/bin/redis-check-rdb`);
    await fakes.script("bin/sudo", 'shift\nexec "$@"');
    const env = { PATH: bin, JSONPLANE_CACHE: cache() };
    await redisServer.bring(env, noting());
    expect(await pathOf(redisServer, env)).toBe(join(cache(), path));
  });
});

describe("the RedisJSON module", () => {
  it("is the one that the environment names", async () => {
    const named = await fakes.script("rejson.so", "");
    expect(await pathOf(redisJson, { JSONPLANE_REJSON: named })).toBe(named);
    const missing = redisJson.find({ JSONPLANE_REJSON: fakes.at("gone.so") });
    await expect(missing).rejects.toThrow(/JSONPLANE_REJSON names .*gone\.so/);
  });

  it.each(["lib/redis/modules/rejson.so", "lib/rejson.so"])(
    "is the server's own %s, also behind a link",
    async (path) => {
      const own = await fakes.script(path, "");
      await symlink(await fakes.script("bin/redis-server", ""), fakes.at("link"));
      const env = { JSONPLANE_REDIS_SERVER: fakes.at("link"), JSONPLANE_CACHE: cache() };
      expect(await pathOf(redisJson, env)).toBe(own);
    },
  );

  it("in the cache is missing when its content is not the pinned one, so that it is fetched again", async () => {
    await fakes.script("cache/redisjson/rejson.so", "");
    expect(await redisJson.find({ PATH: "", JSONPLANE_CACHE: cache() })).toBeUndefined();
  });
});
