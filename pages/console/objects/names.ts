// Names as people read them.

/** `orders` → `order`. A word that doesn't end like an English plural stays as it is. */
export function singularOf(name: string): string {
  if (/[^aeiou]ies$/i.test(name)) return name.replace(/ies$/i, "y");
  if (/(ss|x|ch|sh)es$/i.test(name)) return name.slice(0, -2);
  return /[^aisu]s$/i.test(name) && !/news$/i.test(name) ? name.slice(0, -1) : name;
}

/** `1 order`, `1,200 orders`: in the reader's language. */
export function countOf(count: number, name: string): string {
  return `${count.toLocaleString()} ${count === 1 ? singularOf(name) : name}`;
}

/** Ids that were made at the same time begin alike. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `…${id.slice(-6)}`;
}
