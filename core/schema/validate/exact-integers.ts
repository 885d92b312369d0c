// Finds the integers of a JSON text that a double can't hold, so that keywords which need every digit can ask for them.

export interface ExactValue {
  readonly value: unknown;
  readonly integers: ExactIntegers;
}

/** The exact integer at a member or index of a container, where the double there is not exact. */
export class ExactIntegers {
  readonly #byContainer = new Map<unknown, Map<string, bigint>>();

  set(container: unknown, key: string, integer: bigint): void {
    const members = this.#byContainer.get(container);
    if (members === undefined) this.#byContainer.set(container, new Map([[key, integer]]));
    else members.set(key, integer);
  }

  at(container: unknown, key: string | number): bigint | undefined {
    return this.#byContainer.get(container)?.get(String(key));
  }
}

const manyDigits = /\d{16}/;
const wholeNumber = /^-?\d+$/;

/** What JSON.parse calls, the source text of numbers included, which its declared type lacks. */
type Reviver = (this: unknown, key: string, member: unknown, context: { readonly source?: string }) => unknown;

/** The parsed text with its large integers; undefined when it has none, and `JSON.parse` is enough. */
export function readExactly(text: string): ExactValue | undefined {
  if (!manyDigits.test(text)) return undefined;
  const integers = new ExactIntegers();
  const note: Reviver = function (key, member, { source = "" }) {
    if (typeof member === "number" && !Number.isSafeInteger(member) && wholeNumber.test(source)) {
      integers.set(this, key, BigInt(source));
    }
    return member;
  };
  const value: unknown = JSON.parse(text, note as (this: unknown, key: string, member: unknown) => unknown);
  return { value, integers };
}
