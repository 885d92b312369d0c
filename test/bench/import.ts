// Imports objects of 600 bytes into three indexes, in requests as `jsonplane import` sends them,
// and writes the same JSON to Redis without a service: one JSON.SET and four ZADD for each object.

import { Redis } from "ioredis";
import { idOf, servedText } from "../support/store/stored-objects.ts";
import { bookIndexes, bookText } from "./subjects.ts";

/** As many as `jsonplane import` sends together. */
const linesPerRequest = 500;
const objectsPerPipeline = 64;
const pipelinesAtOnce = 4;

export interface ImportGoal {
  /** Of the Project. */
  readonly base: string;
  readonly admin: string;
}

/** Stored texts, of books with `more` members; other rounds have others. */
export function storedTexts(
  round: number,
  count: number,
  more: Readonly<Record<string, unknown>> = {},
): readonly string[] {
  return Array.from({ length: count }, (_, n) => {
    const data = { ...JSON.parse(bookText(n)), ...more } as Readonly<Record<string, unknown>>;
    const members = Object.entries(data).map(([name, value]) => [name, JSON.stringify(value)] as const);
    return servedText(idOf(round * count + n), members, "apikey:owner");
  });
}

/** Objects per second. */
export async function importRate(
  { base, admin }: ImportGoal,
  texts: readonly string[],
  resource = "books",
): Promise<number> {
  const headers = { Authorization: `apikey ${admin}`, "Content-Type": "application/x-ndjson" };
  const bodies: string[] = [];
  for (let at = 0; at < texts.length; at += linesPerRequest) {
    const lines = texts.slice(at, at + linesPerRequest).map((text) => `{"resource":"${resource}","object":${text}}\n`);
    bodies.push(lines.join(""));
  }
  const began = performance.now();
  for (const body of bodies) {
    const response = await fetch(`${base}/import`, { method: "POST", headers, body });
    const { created, refused, errors } = (await response.json()) as Readonly<Record<string, unknown>>;
    if (created !== linesPerRequest)
      throw new Error(`${created} created, ${refused} refused: ${JSON.stringify(errors)}`);
  }
  return (texts.length * 1_000) / (performance.now() - began);
}

/** Objects per second. */
export async function bareRate(url: string, texts: readonly string[]): Promise<number> {
  const redis = new Redis(url, { protocol: 2 });
  let at = 0;
  const lane = async (): Promise<void> => {
    while (at < texts.length) {
      const some = texts.slice(at, at + objectsPerPipeline);
      at += objectsPerPipeline;
      const pipeline = redis.pipeline();
      for (const text of some) {
        const { id, ...data } = JSON.parse(text) as { readonly id: string } & Readonly<Record<string, unknown>>;
        pipeline.call("JSON.SET", `bare:${id}`, "$", text).zadd("bare:ids", 0, id);
        for (const name of bookIndexes) pipeline.zadd(`bare:${name}`, 0, `${data[name]}\0${id}`);
      }
      await pipeline.exec();
    }
  };
  const began = performance.now();
  await Promise.all(Array.from({ length: pipelinesAtOnce }, lane));
  const rate = (texts.length * 1_000) / (performance.now() - began);
  redis.disconnect();
  return rate;
}
