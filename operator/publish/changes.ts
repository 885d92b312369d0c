// What has to be written so that Redis holds a project's parts: fields whose content differs, and fields that are no more, in
// steps of a few milliseconds of Redis each. Removals come first: they are revocations.

import { fieldTexts } from "../../core/config/fields.ts";
import { type Keyring, keyedHash } from "../../core/config/keyring.ts";
import type { ProjectParts } from "../../core/config/types.ts";
import type { KnownField, KnownProject } from "./known-project.ts";

export interface ChangedField {
  readonly field: string;
  readonly text: string;
  readonly contentHash: string;
}

export interface Change {
  readonly changed: readonly ChangedField[];
  readonly removed: readonly string[];
  /** True for the step after which all of it is written. */
  readonly last: boolean;
}

/** Fields that one script writes at most: some 200 KiB, a few milliseconds of Redis. */
const fieldsPerStep = 200;

type KnownFields = ReadonlyMap<string, KnownField>;

export function changesOf(parts: ProjectParts, keyring: Keyring, known: KnownProject): readonly Change[] {
  const texts = hashedTexts(parts, keyring);
  const present = new Set(texts.map(({ field }) => field));
  const removed = [...known.fields.keys()].filter((field) => !present.has(field));
  const steps = inSteps(
    texts.filter(({ field, contentHash }) => known.fields.get(field)?.contentHash !== contentHash),
    removed,
  );
  // All of it is there, and the index of projects does not name it.
  return steps.length === 0 && known.revision === 0 ? [{ changed: [], removed: [], last: true }] : steps;
}

/** Fields that another key than the ring's first has sealed, whatever their content. */
export function resealsOf(parts: ProjectParts, keyring: Keyring, known: KnownFields): readonly Change[] {
  const [sealing] = keyring.keys;
  const texts = hashedTexts(parts, keyring);
  return inSteps(
    texts.filter(({ field }) => known.get(field)?.kid !== sealing.kid),
    [],
  );
}

function hashedTexts(parts: ProjectParts, keyring: Keyring): readonly ChangedField[] {
  return [...fieldTexts(parts, keyring)].map(([field, text]) => ({
    field,
    text,
    contentHash: keyedHash(keyring, "content", `${parts.project.uid}\n${field}\n${text}`),
  }));
}

function inSteps(changed: readonly ChangedField[], removed: readonly string[]): readonly Change[] {
  const steps: Change[] = [];
  const most = Math.max(changed.length, removed.length);
  for (let at = 0; at < most; at += fieldsPerStep) {
    const end = at + fieldsPerStep;
    steps.push({ changed: changed.slice(at, end), removed: removed.slice(at, end), last: end >= most });
  }
  return steps;
}
