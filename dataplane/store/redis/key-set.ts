// A set of keys in half a mebibyte, whatever their number, for what may be forgotten and mistaken: a key puts out another one whose hash
// has the same place, and passes for one with the same hash, which happens to one of 30,000 when the set is full. Pure.

export interface KeySet {
  add(key: string): void;
  has(key: string): boolean;
  delete(key: string): void;
}

const places = 2 ** 17;

export function createKeySet(): KeySet {
  // The strings themselves, in a map that forgets, would take a quarter of a kibibyte each: 32 MiB instead.
  const hashes = new Uint32Array(places);
  return {
    add(key) {
      const hash = hashOf(key);
      hashes[hash % places] = hash;
    },
    has(key) {
      const hash = hashOf(key);
      return hashes[hash % places] === hash;
    },
    delete(key) {
      const hash = hashOf(key);
      if (hashes[hash % places] === hash) hashes[hash % places] = 0;
    },
  };
}

/** FNV-1a over the text's UTF-16 units; never 0, which is an empty place. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193);
  return hash >>> 0 || 1;
}
