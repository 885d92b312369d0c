// A disk without room for Redis' append-only file: a file system of its own in memory, which takes
// the right to mount one.

import { execFile } from "node:child_process";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { askRedis } from "../../support/redis/ask-redis.ts";
import { startRedis, type TestRedis } from "../../support/redis/redis.ts";
import type { OpenRedis } from "../redis-deployments.ts";
import { NotPlayable, type Scenario, type Stage } from "../scenario.ts";

const run = promisify(execFile);
const sizeMiB = 32;

function onSmallDisk(fsync: "always" | "everysec"): OpenRedis {
  return async () => {
    const dir = await mkdtemp(join(tmpdir(), "jsonplane-disk-"));
    const remove = (): Promise<void> => rm(dir, { recursive: true, force: true });
    try {
      await run("mount", ["-t", "tmpfs", "-o", `size=${sizeMiB}m`, "tmpfs", dir]);
    } catch (cause) {
      await remove();
      throw new NotPlayable("mounting a small file system takes root", { cause });
    }
    const unmount = async (): Promise<void> => {
      await run("umount", ["--lazy", dir]);
      await remove();
    };
    const server = await startRedis({ dir, args: ["--appendonly", "yes", "--appendfsync", fsync] }).catch(
      async (error) => {
        await unmount();
        throw error;
      },
    );
    const stop = async (): Promise<void> => {
      await server.stop();
      await unmount();
    };
    return { url: server.url, server, stop };
  };
}

/** Leaves no byte. */
async function fill(dir: string): Promise<string> {
  const file = join(dir, "ballast");
  for (const size of [1 << 20, 1 << 12, 1]) {
    for (;;) {
      const full = await appendFile(file, Buffer.alloc(size)).then(
        () => false,
        (error: NodeJS.ErrnoException) => error.code === "ENOSPC",
      );
      if (full) break;
    }
  }
  return file;
}

/** As whoever runs Redis does: started again when it has ended. */
async function superviseFor(server: TestRedis, { history, pause }: Stage, milliseconds: number): Promise<void> {
  const until = history.now() + milliseconds;
  while (history.now() < until) {
    await pause(250);
    const answer = await askRedis(server.port, "PING").catch(() => "");
    if (answer === "") await server.restart().catch(() => undefined);
  }
}

async function fillAndEmpty(stage: Stage): Promise<void> {
  const { world, history, left } = stage;
  const { server } = world.redis;
  while (left() > 0) {
    history.fault("the disk is full");
    const ballast = await fill(server.dir);
    await superviseFor(server, stage, 2_500);
    await rm(ballast);
    await superviseFor(server, stage, 2_500);
  }
}

export const fullDiskEverysec: Scenario = {
  name: "disk-full-everysec",
  does: "the disk of the append-only file becomes full (`appendfsync everysec`) and has room again",
  plan: { redis: onSmallDisk("everysec") },
  seconds: 12,
  run: fillAndEmpty,
};

export const fullDiskAlways: Scenario = {
  name: "disk-full-always",
  does: "the disk of the append-only file becomes full (`appendfsync always`): Redis ends itself, and is started again and again until there is room",
  plan: { redis: onSmallDisk("always") },
  seconds: 12,
  run: fillAndEmpty,
};
