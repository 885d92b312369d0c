// A set of keys, by their hashes, in half a mebibyte, whatever their number, for what may be forgotten and mistaken: a key puts out another one
// when both its places are taken, and passes for one with the same hash, which happens to one of 30,000 when the set is full. Pure.

export interface KeySet {
  /** Takes what `keyHash` makes of the key, as the others do. */
  add(hash: number): void;
  has(hash: number): boolean;
  delete(hash: number): void;
}

const placeBits = 17;
const places = 2 ** placeBits;
const empty = 0;

export function createKeySet(): KeySet {
  // The strings themselves, in a map that forgets, would take a quarter of a kibibyte each: 32 MiB instead.
  const hashes = new Uint32Array(places);
  /** Two for each hash: with one, a few of a thousand keys would put each other out all the time. */
  const first = (hash: number): number => hash % places;
  const second = (hash: number): number => hash >>> (32 - placeBits);
  const holds = (hash: number): boolean => hashes[first(hash)] === hash || hashes[second(hash)] === hash;
  return {
    add(hash) {
      if (!holds(hash)) hashes[hashes[first(hash)] === empty ? first(hash) : second(hash)] = hash;
    },
    has: holds,
    delete(hash) {
      if (hashes[first(hash)] === hash) hashes[first(hash)] = empty;
      else if (hashes[second(hash)] === hash) hashes[second(hash)] = empty;
    },
  };
}

/** FNV-1a over the text's UTF-16 units, 32 bits; never 0, which is an empty place. */
export function keyHash(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0 || 1;
}
