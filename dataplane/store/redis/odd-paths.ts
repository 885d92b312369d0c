// Writes below keys that no path of Redis JSON can name: reads the nearest container that one can name, changes its text here
// and puts it back while it is still the same. Refuses as the port says, and with StoreUnavailable when others change that
// container faster than it can be put back.

import { setTimeout as sleep } from "node:timers/promises";
import { StoreUnavailable } from "../../../core/errors/store-errors.ts";
import type { SpliceRefusal } from "../../../core/json/splice.ts";
import type { DocumentRefusal, Path, Receipt } from "../port.ts";
import { addressableLength } from "./document-path.ts";
import type { DocumentScripts, MissingDocument } from "./document-scripts.ts";
import type { DocumentKeys } from "./keys.ts";
import { sha1 } from "./objects.ts";

const patienceMilliseconds = 2_000;

/** A change of a container's text, by the rules of core/json/splice.ts, and of what is expected there. */
export type Change<Outcome extends string> = (
  text: string,
  place: Place,
) => { readonly outcome: Outcome; readonly document: string } | SpliceRefusal | { readonly outcome: "changed" };

export interface Place {
  /** From the container to the value. */
  readonly below: Path;
  /** Levels between the document's root and the container. */
  readonly depth: number;
}

export interface OddWrite {
  readonly keys: DocumentKeys;
  readonly path: Path;
  readonly maxBytes: number;
  readonly maxGrowth?: number | undefined;
  readonly receipt?: Receipt | undefined;
}

/** One object type per outcome. */
type Applied<Outcome> = Outcome extends string ? { readonly outcome: Outcome; readonly growth?: number } : never;
type Answer<Outcome> = Applied<Outcome> | DocumentRefusal;

export interface OddPaths {
  change<Outcome extends string>(write: OddWrite, change: Change<Outcome>): Promise<Answer<Outcome>>;
}

export function createOddPaths(scripts: DocumentScripts): OddPaths {
  // Writers of one process take turns: against each other they would only lose.
  const turns = new Map<string, Promise<unknown>>();

  const inTurn = async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const before = turns.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    turns.set(key, mine);
    try {
      return await mine;
    } finally {
      if (turns.get(key) === mine) turns.delete(key);
    }
  };

  return {
    change: (write, change) => inTurn(write.keys.value, () => changeContainer(scripts, write, change)),
  };
}

async function changeContainer<Outcome extends string>(
  scripts: DocumentScripts,
  write: OddWrite,
  change: Change<Outcome>,
): Promise<Answer<Outcome>> {
  const deadline = performance.now() + patienceMilliseconds;
  for (let attempts = 1; performance.now() < deadline; attempts += 1) {
    const container = await containerOf(scripts, write);
    if ("outcome" in container) return container;
    const answer = await changeOnce(scripts, write, container, change);
    if (answer !== "conflict") return answer;
    await sleep(Math.random() * Math.min(attempts, 20));
  }
  throw new StoreUnavailable("Others keep changing the document");
}

interface Container {
  readonly path: Path;
  readonly text: string;
}

/** The nearest container above the odd key that a path can name; the whole document when that leads nowhere. */
async function containerOf(scripts: DocumentScripts, { keys, path }: OddWrite): Promise<Container | MissingDocument> {
  const named = path.slice(0, addressableLength(path));
  const found = await scripts.read(keys, named);
  if (found.outcome === "found") return { path: named, text: found.text };
  if (found.outcome === "missing_document") return found;
  // Where the path ends, and how, the whole text tells.
  const whole = await scripts.read(keys, []);
  return whole.outcome === "found" ? { path: [], text: whole.text } : { outcome: "missing_document" };
}

async function changeOnce<Outcome extends string>(
  scripts: DocumentScripts,
  write: OddWrite,
  container: Container,
  change: Change<Outcome>,
): Promise<Answer<Outcome> | "conflict"> {
  const { path, text } = container;
  const changed = change(text, { below: write.path.slice(path.length), depth: path.length });
  if (!("document" in changed)) return changed satisfies DocumentRefusal as Answer<Outcome>;
  const answer = await scripts.replaceContainer({ ...write, path, text: changed.document, previous: sha1(text) });
  if (answer.outcome === "repeated") return answer;
  if (answer.outcome === "done") return { ...answer, outcome: changed.outcome } as unknown as Applied<Outcome>;
  return answer.outcome === "conflict" ? "conflict" : { outcome: answer.outcome };
}
