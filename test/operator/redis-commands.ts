// What the operators of a fleet ask of Redis, by MONITOR; and the configuration as it stands there,
// for comparison.

import { Redis } from "ioredis";
import { configKeys } from "../../core/config/config-keys.ts";
import { monitorRedis } from "../support/redis/monitor-redis.ts";
import type { TestRedis } from "../support/redis/redis.ts";

export interface CommandWatch {
  /**
   * Names of the commands that operators sent meanwhile, each once, and whether Redis counts them
   * as writing.
   */
  stop(): Promise<{ readonly reading: readonly string[]; readonly writing: readonly string[] }>;
}

const operatorName = "jsonplane-operator";

export async function watchCommands(server: TestRedis): Promise<CommandWatch> {
  const client = new Redis(server.url);
  const sent: { readonly source: string; readonly command: string }[] = [];
  const monitor = await monitorRedis(server.port, ({ args: [command = ""], source }) => {
    sent.push({ source, command: command.toLowerCase() });
  });
  return {
    async stop() {
      const operators = await operatorAddresses(client);
      monitor.stop();
      const commands = new Set(sent.filter(({ source }) => operators.has(source)).map(({ command }) => command));
      const writing = await writingOf(client, [...commands]);
      client.disconnect();
      return { writing, reading: [...commands].filter((command) => !writing.includes(command)) };
    },
  };
}

async function operatorAddresses(client: Redis): Promise<ReadonlySet<string>> {
  const list = (await client.call("CLIENT", "LIST")) as string;
  const operators = list.split("\n").filter((line) => line.includes(` name=${operatorName} `));
  return new Set(operators.flatMap((line) => / addr=(\S+)/.exec(line)?.slice(1) ?? []));
}

async function writingOf(client: Redis, commands: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(commands.map((command) => client.call("COMMAND", "INFO", command)));
  // A script may write, whatever its command's flags say.
  return commands.filter((command, at) => /eval|fcall/.test(command) || JSON.stringify(found[at]).includes('"write"'));
}

/** All configuration as texts by key, but for the writer's epoch and what replicas say. */
export async function configurationIn(server: TestRedis): Promise<Readonly<Record<string, unknown>>> {
  const client = new Redis(server.url);
  const found: Record<string, unknown> = {};
  const { epoch: _, ...meta } = await client.hgetall(configKeys.meta);
  const changes = await client.xlen(configKeys.changes);
  const prefixes = ["project", "credentials"].map((kind) => configKeys.meta.replace("meta", `${kind}:*`));
  const keys = (await Promise.all(prefixes.map((prefix) => client.keys(prefix)))).flat();
  for (const key of [configKeys.projects, configKeys.data, ...keys.sort()]) found[key] = await client.hgetall(key);
  client.disconnect();
  return { meta, changes, ...found };
}
