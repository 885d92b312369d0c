import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cachedFolder, cacheFolder } from "../../../../tools/parts/cache.ts";
import { PartMissing } from "../../../../tools/parts/part-missing.ts";
import { findRedisJson } from "../../../../tools/parts/redis-json.ts";
import { findRedisServer } from "../../../../tools/parts/redis-server.ts";

let folder = "";

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "jsonplane-parts-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function program(path: string): Promise<string> {
  const whole = join(folder, path);
  await mkdir(join(whole, ".."), { recursive: true });
  await writeFile(whole, "#!/bin/sh\n");
  await chmod(whole, 0o755);
  return whole;
}

describe("a Redis server", () => {
  it("is the one that the environment names", async () => {
    const named = await program("mine/redis-server");
    expect(await findRedisServer({ JSONPLANE_REDIS_SERVER: named, PATH: "" })).toBe(named);
  });

  it("is refused when the environment names something else than a program", async () => {
    const missing = findRedisServer({ JSONPLANE_REDIS_SERVER: join(folder, "gone") });
    await expect(missing).rejects.toThrow(/JSONPLANE_REDIS_SERVER names .*gone/);
  });

  it("is found on the PATH", async () => {
    const server = await program("bin/redis-server");
    expect(await findRedisServer({ PATH: join(folder, "bin") })).toBe(server);
  });

  it("is Debian's under its other name, which needs no service", async () => {
    await program("bin/redis-check-rdb");
    const cache = join(folder, "cache");
    const server = await findRedisServer({ PATH: join(folder, "bin"), JSONPLANE_CACHE: cache });
    expect(server).toBe(join(cache, "redis-server", "redis-server"));
  });

  it("that can be neither installed nor unpacked is told with the reasons", async () => {
    const failing = "#!/bin/sh\necho no network >&2\nexit 100\n";
    for (const name of ["apt-get", "dpkg-deb"]) await writeFile(await program(`bin/${name}`), failing);
    const missing = findRedisServer({ PATH: join(folder, "bin"), JSONPLANE_CACHE: join(folder, "cache") });
    await expect(missing).rejects.toThrow(/redis-server is missing; .*no network/);
  });

  it("that is missing and can't be installed is told with what to do", async () => {
    const missing = findRedisServer({ PATH: join(folder, "empty") });
    await expect(missing).rejects.toBeInstanceOf(PartMissing);
    await expect(missing).rejects.toThrow(
      /redis-server is missing[\s\S]*apt-get install redis-server[\s\S]*JSONPLANE_REDIS_SERVER/,
    );
  });
});

describe.each([
  ["installed", 0, "redis-server/redis-server"],
  ["unpacked, where it can't be installed", 1, "redis-debian/redis-server"],
])("Debian's Redis is %s", (_way, installs, path) => {
  it("when none is on the PATH", async () => {
    const bin = join(folder, "bin");
    // Stands in for apt-get: `install` brings the program, `download` an archive.
    const server = "#!/bin/sh\nexit 0\n";
    await writeFile(join(folder, "server"), server, { mode: 0o755 });
    await writeFile(
      await program("bin/apt-get"),
      `#!/bin/sh\ncase "$*" in *install*) [ ${installs} = 0 ] && cp ${folder}/server ${bin}/redis-check-rdb ;; *download*) touch a.deb ;; esac\n`,
    );
    await writeFile(
      await program("bin/dpkg-deb"),
      `#!/bin/sh\nmkdir -p usr/bin && cp ${folder}/server usr/bin/redis-check-rdb\n`,
    );
    await writeFile(await program("bin/sudo"), '#!/bin/sh\nshift\nexec "$@"\n');
    const cache = join(folder, "cache");
    expect(await findRedisServer({ PATH: bin, JSONPLANE_CACHE: cache })).toBe(join(cache, path));
  });
});

describe("the RedisJSON module", () => {
  it("is the one that the environment names", async () => {
    const named = await program("rejson.so");
    expect(await findRedisJson({ JSONPLANE_REJSON: named }, "/nowhere/redis-server")).toBe(named);
    const missing = findRedisJson({ JSONPLANE_REJSON: join(folder, "gone.so") }, "/nowhere/redis-server");
    await expect(missing).rejects.toThrow(/JSONPLANE_REJSON names .*gone\.so/);
  });

  it.each(["lib/redis/modules/rejson.so", "lib/rejson.so"])(
    "is the server's own %s, also behind a link",
    async (path) => {
      const own = await program(path);
      await symlink(await program("bin/redis-server"), join(folder, "link"));
      expect(await findRedisJson({}, join(folder, "link"))).toBe(own);
    },
  );

  it("in the cache is not used when its content is not the pinned one", async () => {
    const server = await program("bin/redis-server");
    await program("cache/redisjson/rejson.so");
    const refused = findRedisJson({ JSONPLANE_CACHE: join(folder, "cache") }, server);
    await expect(refused).rejects.toThrow(/(is not the pinned RedisJSON module: delete|Linux x64 only)/);
  });
});

describe("the cache", () => {
  it("is where the environment says", () => {
    expect(cacheFolder({ JSONPLANE_CACHE: "/a", XDG_CACHE_HOME: "/b", HOME: "/c" })).toBe("/a");
    expect(cacheFolder({ XDG_CACHE_HOME: "/b", HOME: "/c" })).toBe("/b/jsonplane");
    expect(cacheFolder({ HOME: "/c" })).toBe("/c/.cache/jsonplane");
  });

  it("fills a folder once", async () => {
    let fills = 0;
    const fill = async (draft: string) => {
      fills += 1;
      await writeFile(join(draft, "part"), "");
    };
    const first = await cachedFolder(folder, "part", fill);
    expect(await cachedFolder(folder, "part", fill)).toBe(first);
    expect(fills).toBe(1);
    expect(await readdir(folder)).toEqual(["part"]);
  });

  it("keeps one whole folder when two processes fill it at once", async () => {
    const fill = (draft: string) => writeFile(join(draft, "part"), "");
    await Promise.all([cachedFolder(folder, "part", fill), cachedFolder(folder, "part", fill)]);
    expect(await readdir(folder)).toEqual(["part"]);
    expect(await readdir(join(folder, "part"))).toEqual(["part"]);
  });

  it("keeps nothing of a fetch that failed", async () => {
    const failing = cachedFolder(folder, "part", () => Promise.reject(new Error("cut off")));
    await expect(failing).rejects.toThrow("cut off");
    expect(await readdir(folder)).toEqual([]);
  });
});
