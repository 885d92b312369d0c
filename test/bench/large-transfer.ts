// `npm run bench -- transfer --objects 1000000`: `jsonplane import` stores a file of so many
// objects by a replica, and `jsonplane export` writes them to another file. Says how much memory
// either side took at most. Exits 1 beyond the goal, or where the two files have different lines.

import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createReadStream } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ExportWriter } from "../../core/transfer/export-writer.ts";
import { LineSplitter } from "../../core/transfer/line-splitter.ts";
import { allocatorEnvironment } from "../../tools/image/jsonplane-image.ts";
import { programFile } from "../support/fleet/program-process.ts";
import { temporaryFolder } from "../support/process/temporary-folder.ts";
import { startRedis } from "../support/redis/redis.ts";
import { machine, printTable } from "./figures.ts";
import { storedTexts } from "./import.ts";
import { peakMemory } from "./operator-figures.ts";
import { startServer } from "./processes.ts";
import type { Plane } from "./stage.ts";

const goalMiB = 300;
/** As the chart's of a replica with so much memory: by itself Node would fill more. */
const environment = {
  ...allocatorEnvironment,
  NODE_OPTIONS: `--max-old-space-size=${0.6 * goalMiB} --max-semi-space-size=16`,
};
const objectsPerWrite = 1_000;
const lookEveryMs = 50;

type Row = readonly [what: string, seconds: number, commandMiB: number, replicaMiB: number];

export async function measureLargeTransfer(objects: number): Promise<void> {
  console.log(`${objects.toLocaleString("en")} objects (${machine()})\n`);
  const folder = temporaryFolder("jsonplane-transfer-");
  const [from, to] = [join(folder.path, "from.ndjson"), join(folder.path, "to.ndjson")];
  const redis = await startRedis();
  try {
    await writeExport(from, objects);
    const rows = [
      await run(redis.url, folder.path, (url) => ["import", url, from]),
      await run(redis.url, folder.path, (url) => ["export", url, "--resource", "books", "--out", to]),
    ];
    const isSame = (await digestOf(from)) === (await digestOf(to));
    printTable(["what", "seconds", "MiB of the command", "MiB of the replica", "goal"], rows.map(cellsOf));
    console.log(isSame ? "\nBoth files have the same lines." : "\nThe files have different lines.");
    process.exitCode = isSame && rows.every(([, , ...peaks]) => Math.max(...peaks) <= goalMiB) ? 0 : 1;
  } finally {
    await redis.stop();
    await folder.remove();
  }
}

function cellsOf([what, seconds, ...peaks]: Row): readonly (string | number)[] {
  return [what, Math.round(seconds), ...peaks, `≤ ${goalMiB}`];
}

async function writeExport(path: string, objects: number): Promise<void> {
  const writer = new ExportWriter();
  const file = await open(path, "w");
  await file.writeFile(writer.head({ exportedAt: new Date().toISOString(), resources: ["books"], rootKeys: [] }));
  for (let at = 0; at < objects; at += objectsPerWrite) {
    const texts = storedTexts(at / objectsPerWrite, Math.min(objectsPerWrite, objects - at));
    await file.writeFile(writer.objects("books", texts));
  }
  await file.writeFile(writer.end());
  await file.close();
}

/** Of a command, with a replica of its own. */
async function run(redisUrl: string, folder: string, wordsOf: (url: string) => readonly string[]): Promise<Row> {
  const { says, pid, stop } = await startServer<Plane>("plane-server.ts", [redisUrl], environment);
  try {
    const keyFile = join(folder, "key");
    await writeFile(keyFile, says.admin);
    const words = wordsOf(says.base);
    const began = performance.now();
    const command = spawn(process.execPath, [programFile, ...words, "--api-key-file", keyFile], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    const commandPeak = await peakUntilEnd(command);
    return [words[0] ?? "", (performance.now() - began) / 1_000, commandPeak, await peakMemory(pid)];
  } finally {
    await stop();
  }
}

/** MiB. Throws where it fails. */
async function peakUntilEnd(command: ChildProcess): Promise<number> {
  const ended = once(command, "exit");
  let peak = 0;
  while (command.exitCode === null && command.signalCode === null) {
    peak = Math.max(peak, await peakMemory(command.pid ?? 0).catch(() => 0));
    await Promise.race([sleep(lookEveryMs), ended]);
  }
  if (command.exitCode !== 0) throw new Error(`The command ended with ${command.exitCode ?? command.signalCode}`);
  return peak;
}

/** Of all lines between the first and the last. */
async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  const splitter = new LineSplitter();
  for await (const piece of createReadStream(path)) {
    for (const line of splitter.push(piece as Buffer)) if (line.includes('"object"')) hash.update(line);
  }
  return hash.digest("hex");
}
