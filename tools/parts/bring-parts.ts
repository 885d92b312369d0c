// The parts step: finds every part that a command will use, and fetches or builds the missing ones
// before the command begins, two at a time and one process at a time each. Says what it does, a
// line per part. Throws PartMissing when one can't be had; what was finished by then stays, and the
// next run goes on from there.

import { cacheFolder, type Environment } from "./cache.ts";
import { type FoundPart, type Part, PartMissing } from "./part.ts";
import { withPartLock } from "./part-lock.ts";

/** A build takes every core for most of its time, and waits for the network in between. */
const atOnce = 2;
const progressMs = 15_000;

export interface BringPartsOptions {
  readonly print?: (line: string) => void;
  /** Milliseconds between lines that say how far a part is; default 15 s. */
  readonly progressEveryMs?: number;
}

const printToStderr = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Sets the variable that names each part in `env`, so that whatever is started with it looks no
 * further.
 */
export async function bringParts(
  env: Record<string, string | undefined>,
  parts: readonly Part[],
  { print = printToStderr, progressEveryMs = progressMs }: BringPartsOptions = {},
): Promise<void> {
  if (parts.length === 0) return;
  const located = await findParts(env, parts);
  print(`Parts (cache: ${cacheFolder(env)})`);
  const missing: Part[] = [];
  for (const { part, found } of located) {
    print(await partLine(part, found));
    if (found === undefined) missing.push(part);
  }
  if (missing.length > 0) {
    const what = missing.length === 1 ? "the missing part" : `${missing.length} missing parts, ${atOnce} at a time`;
    print(`Bringing ${what} (once)`);
    await bringAll(env, missing, { print, progressEveryMs });
  }
  for (const { part, found } of await findParts(env, parts)) {
    if (part.variable !== undefined && found !== undefined) env[part.variable] = found.path;
  }
}

interface LocatedPart {
  readonly part: Part;
  readonly found: FoundPart | undefined;
}

async function findParts(env: Environment, parts: readonly Part[]): Promise<readonly LocatedPart[]> {
  return Promise.all(parts.map(async (part) => ({ part, found: await part.find(env) })));
}

/** `  etcd                      3.7.3     cache (/…/etcd)`, or how it comes. */
export async function partLine(part: Part, found: FoundPart | undefined): Promise<string> {
  const name = part.name.padEnd(25);
  if (found === undefined) return `  ${name} missing   ${part.firstTime}`;
  const version = (await part.versionOf(found)) ?? "";
  return `  ${name} ${version.padEnd(9)} ${found.origin} (${found.path})`;
}

type Printing = Required<BringPartsOptions>;

async function bringAll(env: Environment, missing: readonly Part[], printing: Printing): Promise<void> {
  const waiting = [...missing];
  const stop = new AbortController();
  const failures: { readonly part: Part; readonly error: unknown }[] = [];
  const worker = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined && !stop.signal.aborted; part = waiting.shift()) {
      try {
        await bringOne(env, part, { ...printing, signal: stop.signal });
      } catch (error) {
        // Without it the command can't run, so nobody has to wait for the others.
        if (!stop.signal.aborted) {
          failures.push({ part, error });
          printing.print(`  ${part.name}: failed; what else has begun ends now`);
        }
        stop.abort();
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  const [first] = failures;
  if (first === undefined) return;
  if (first.error instanceof PartMissing) throw first.error;
  throw new PartMissing(`${first.part.name} can't be brought: ${describe(first.error)}`, { cause: first.error });
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function bringOne(env: Environment, part: Part, printing: Printing & { signal: AbortSignal }): Promise<void> {
  const { print, progressEveryMs, signal } = printing;
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1_000)} s`;
  let state = "starting";
  print(`  ${part.name}: ${part.firstTime}`);
  const progress = setInterval(() => print(`  ${part.name}: ${state} (${elapsed()})`), progressEveryMs);
  const onProgress = (text: string) => {
    state = text;
  };
  try {
    await withPartLock(
      env,
      part.name,
      async () => {
        signal.throwIfAborted();
        // Another process may have brought it while this one waited for the lock.
        if ((await part.find(env)) === undefined) await part.bring(env, { onProgress, signal });
      },
      {
        signal,
        onWait: () => {
          state = "waiting for another process that brings it";
          print(`  ${part.name}: ${state}`);
        },
      },
    );
  } finally {
    clearInterval(progress);
  }
  if ((await part.find(env)) === undefined) throw new PartMissing(`${part.name} was brought, and can't be found`);
  print(`  ${part.name}: here after ${elapsed()}`);
}
