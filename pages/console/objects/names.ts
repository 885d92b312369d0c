// Names as people read them.

/** `orders` → `order`. A word that doesn't end like an English plural stays as it is. */
export function singularOf(name: string): string {
  if (/[^aeiou]ies$/i.test(name)) return name.replace(/ies$/i, "y");
  if (/(ss|x|ch|sh)es$/i.test(name)) return name.slice(0, -2);
  return /[^aisu]s$/i.test(name) && !/news$/i.test(name) ? name.slice(0, -1) : name;
}
