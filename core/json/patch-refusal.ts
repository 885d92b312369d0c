// Why a patch is not applied, and the work that one may take.

export type PatchRefusalCode =
  /** It is no patch, whatever is stored. */
  | "invalid_patch"
  /** It does not match what is stored: a path leads nowhere, or a test fails. */
  | "patch_conflict"
  /** An increment would pass one of its bounds, or leave a number that is not stored. */
  | "increment_out_of_bounds"
  /** It has too many operations, or takes too much work. */
  | "patch_too_large";

export class PatchRefusal extends Error {
  override readonly name = "PatchRefusal";
  readonly code: PatchRefusalCode;
  /** RFC 6901, into the patch: which operation, and which of its members. */
  readonly pointer: string;

  constructor(code: PatchRefusalCode, message: string, pointer = "") {
    super(message);
    this.code = code;
    this.pointer = pointer;
  }
}

/**
 * Characters that may be read or written, counted for each patch: some 50 ms at 3 ns each. A patch
 * of one change in a mebibyte takes one to three million.
 */
const maxWork = 16 * 1024 * 1024;

/** The cost of remembering a member by its name, in characters: some 200 ns, measured. */
export const memberCost = 64;
/** What an element costs that is taken out of its array. */
export const elementCost = 16;

/** What a sum costs: some microseconds where the magnitudes of two doubles lie far apart. */
export const incrementCost = 1024;

/** What the work of one patch is counted on. */
export class PatchWork {
  #left: number;

  constructor(max = maxWork) {
    this.#left = max;
  }

  /** Throws PatchRefusal `patch_too_large` when it was too much. */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new PatchRefusal("patch_too_large", "The patch takes too much work; send it in parts");
  }
}
