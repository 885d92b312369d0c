// Random calls of documents on one document, at paths that mostly exist.

import fc from "fast-check";
import { purgeDocument } from "../../../dataplane/config/purge-steps.ts";
import { jsonTexts, someKeys } from "../json/random-json.ts";
import { normalised } from "./same-json.ts";
import { type Call, call, type Subject } from "./store-call.ts";

/** A step down: the n-th child of what is there, or a key of its own. */
type Step = { readonly child: number } | { readonly key: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.nat({ max: 5 }).map((child) => ({ child })) },
  { weight: 1, arbitrary: fc.constantFrom(...someKeys, "2", "9", "10").map((key) => ({ key })) },
);
const path = fc.oneof(
  { weight: 9, arbitrary: fc.array(step, { minLength: 1, maxLength: 4, size: "max" }) },
  { weight: 1, arbitrary: fc.constant<readonly Step[]>([]) },
);
/** The last step may well lead to something new. */
const pathBelow = fc
  .tuple(
    fc.array(step, { maxLength: 3, size: "max" }),
    fc.oneof(
      step,
      fc.constantFrom(...someKeys).map((key) => ({ key })),
    ),
  )
  .map(([parents, last]) => [...parents, last]);
const limits = fc.record({ maxBytes: fc.constantFrom(40, 150, 600, 100_000, 100_000, 100_000) });

/**
 * The segments of steps, by the names that stand there; in their order as text, which both stores
 * share.
 */
async function resolve({ store, document }: Subject, steps: readonly Step[]): Promise<readonly string[]> {
  const read = await store.readAt(document, []);
  let here: unknown = read.outcome === "found" ? JSON.parse(read.text) : undefined;
  const segments: string[] = [];
  for (const taken of steps) {
    const names = typeof here === "object" && here !== null ? Object.keys(here).sort() : [];
    const segment = "key" in taken ? taken.key : (names[taken.child % Math.max(1, names.length)] ?? "none");
    segments.push(segment);
    here = names.includes(segment) ? Object.getOwnPropertyDescriptor(here, segment)?.value : undefined;
  }
  return segments;
}

/** Compared without the order of members, which a removal may change. */
async function comparable(answer: Promise<{ readonly outcome: string; readonly text?: string }>): Promise<unknown> {
  const { text, ...rest } = await answer;
  return text === undefined ? rest : { ...rest, text: normalised(text) };
}

const reads = call("readAt", path, async (subject, steps) =>
  comparable(subject.store.readAt(subject.document, await resolve(subject, steps))),
);

const inserts = call("insertAt", fc.tuple(pathBelow, jsonTexts, limits), async (subject, [steps, text, limit]) =>
  comparable(subject.store.insertAt(subject.document, await resolve(subject, steps), text, limit)),
);

const puts = call(
  "putAt",
  fc.tuple(path, jsonTexts, limits, fc.boolean()),
  async (subject, [steps, text, limit, mayCreate]) =>
    comparable(subject.store.putAt(subject.document, await resolve(subject, steps), text, { ...limit, mayCreate })),
);

const removes = call("removeAt", pathBelow, async (subject, steps) =>
  subject.store.removeAt(subject.document, await resolve(subject, steps)),
);

const initialises = call("initialise", jsonTexts, ({ store, document }, text) => store.initialise(document, text));
const purges = call("purgeDocument", fc.constant("whole"), ({ store, document }) => purgeDocument(store, document));
const wholes = call("readAt", fc.constant("the root"), ({ store, document }) => comparable(store.readAt(document, [])));

const someCalls: fc.Arbitrary<Call> = fc.oneof(
  { weight: 1, arbitrary: initialises },
  { weight: 8, arbitrary: reads },
  { weight: 14, arbitrary: inserts },
  { weight: 10, arbitrary: puts },
  { weight: 5, arbitrary: removes },
  { weight: 4, arbitrary: wholes },
  { weight: 1, arbitrary: fc.oneof({ weight: 4, arbitrary: reads }, { weight: 1, arbitrary: purges }) },
);

/** Something to walk in: containers in containers. */
const start = fc
  .tuple(fc.array(jsonTexts, { maxLength: 4 }), fc.array(jsonTexts, { maxLength: 4 }), fc.constantFrom(...someKeys))
  .map(
    ([first, second, key]) =>
      `{"a":{"l":[${first.join(",")}],${JSON.stringify(`${key}.`)}:{}},"l":[[${second.join(",")}],{},[]]}`,
  );
const begins = call("initialise", start, ({ store, document }, text) => store.initialise(document, text));

export const documentSequences: fc.Arbitrary<readonly Call[]> = fc
  .tuple(
    fc.oneof({ weight: 9, arbitrary: begins }, { weight: 1, arbitrary: wholes }),
    fc.array(someCalls, { maxLength: 50, size: "max" }),
  )
  .map(([first, others]) => [first, ...others]);
