// A KubeReader that answers as a test says: lists from a queue, watches that the test writes into.

import type { KubeObject, KubeReader, ListPage, WatchEvent } from "../../../../operator/kube/api.ts";

export interface ScriptedReader {
  readonly reader: KubeReader;
  /** `list`, `list <token>`, `watch <version>`, in order; `compare` for a list of metadata only. */
  readonly asked: readonly string[];
  /** After how many seconds the server is asked to end each watch. */
  readonly timeouts: readonly number[];
  /** What the next lists are answered with; without one they wait for ever. */
  answer(...pages: readonly (ListPage | Error)[]): void;
  /** What happens at the next watches, before anything else; without one they stay open. */
  refuse(...errors: readonly (Error | "end")[]): void;
  /** Into the watch that is open now. */
  send(...events: readonly WatchEvent[]): void;
  bytes(): void;
  end(): void;
  fail(error: Error): void;
}

type Item = WatchEvent | Error | "end" | "bytes";

export function scriptedReader(): ScriptedReader {
  const asked: string[] = [];
  const timeouts: number[] = [];
  const pages = new Arrivals<ListPage | Error>();
  const refusals: (Error | "end")[] = [];
  let present: Arrivals<Item> | undefined;
  const push = (item: Item): void => {
    if (present === undefined) throw new Error("no watch is open");
    present.push(item);
  };
  return {
    reader: {
      async list(_type, { continue: token, metadataOnly }, options) {
        const verb = metadataOnly === true ? "compare" : "list";
        asked.push(token === undefined ? verb : `${verb} ${token}`);
        return thrown(await Promise.race([pages.next(), aborted(options?.signal)]));
      },
      async *watch(_type, { resourceVersion, timeoutSeconds }, { signal, onBytes }) {
        asked.push(`watch ${resourceVersion}`);
        timeouts.push(timeoutSeconds);
        const stream = new Arrivals<Item>();
        present = stream;
        for (const refusal of refusals.splice(0, 1)) stream.push(refusal);
        for (;;) {
          const item = thrown(await Promise.race([stream.next(), aborted(signal)]));
          if (item === "end") return;
          onBytes?.();
          if (item !== "bytes") yield item;
        }
      },
      get: () => Promise.resolve(undefined),
    },
    asked,
    timeouts,
    answer: (...given) => pages.push(...given),
    refuse: (...given) => refusals.push(...given),
    send: (...events) => events.forEach(push),
    bytes: () => push("bytes"),
    end: () => push("end"),
    fail: push,
  };
}

function thrown<T>(item: T | Error): T {
  if (item instanceof Error) throw item;
  return item;
}

function aborted(signal: AbortSignal | undefined): Promise<Error> {
  return new Promise((resolve) => {
    if (signal?.aborted) resolve(signal.reason as Error);
    signal?.addEventListener("abort", () => resolve(signal.reason as Error), { once: true });
  });
}

/** Things in order, for whoever waits for the next, first come first served. */
class Arrivals<T> {
  readonly #items: T[] = [];
  readonly #waiting: ((item: T) => void)[] = [];

  push(...items: readonly T[]): void {
    for (const item of items) {
      const give = this.#waiting.shift();
      if (give === undefined) this.#items.push(item);
      else give(item);
    }
  }

  next(): Promise<T> {
    const item = this.#items.shift();
    return item === undefined ? new Promise((give) => this.#waiting.push(give)) : Promise.resolve(item);
  }
}

/** An object as a server would give it; the UID follows the name unless said. */
export function served(name: string, version: number, more: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return {
    metadata: { namespace: "a", name, uid: `uid-${name}`, resourceVersion: String(version), ...more },
    data: { at: String(version) },
  };
}

export function page(version: number, items: readonly KubeObject[], token?: string): ListPage {
  return { items, resourceVersion: String(version), ...(token !== undefined && { continue: token }) };
}
