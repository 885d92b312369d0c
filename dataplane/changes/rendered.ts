// What has been made of a batch, for all streams that are shown the same. It has a limit, because
// clients choose how many different things they are shown. Beyond it each stream makes its own.

const leastLength = 64 * 1024;
/** Room for all events, encoded, and for those of a few other views. */
const perCharacter = 4;

export class Rendered {
  readonly #maxLength: number;
  readonly #made = new Map<string, unknown>();
  #length = 0;

  /** `length` = characters of the batch's texts. */
  constructor(length: number) {
    this.#maxLength = leastLength + perCharacter * length;
  }

  /** `lengthOf` = about how many bytes what was made keeps in memory. */
  share<T extends {}>(key: string, make: () => T, lengthOf: (made: T) => number): T {
    const known = this.#made.get(key) as T | undefined;
    if (known !== undefined) return known;
    const made = make();
    const length = key.length + lengthOf(made);
    if (this.#length + length <= this.#maxLength) {
      this.#length += length;
      this.#made.set(key, made);
    }
    return made;
  }

  has(key: string): boolean {
    return this.#made.has(key);
  }

  /** Made anew when it is asked for again. */
  forget(key: string): void {
    this.#made.delete(key);
  }

  clear(): void {
    this.#made.clear();
    this.#length = 0;
  }
}
