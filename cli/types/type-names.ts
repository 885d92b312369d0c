// Gives each type a name of its own.

/** Names that mean something else in the file. */
const reserved = ["Api", "Partial"];
/** What is made of the name of a resource's type; "" is the type of its objects. */
const endings = ["", "Create", "Update", "Patch", "Filters", "Sort", "Data"];

export class TypeNames {
  readonly #taken = new Set(reserved);

  /** `wanted`, or with a number behind it where that is taken. */
  take(wanted: string): string {
    return this.#takeAll(wanted, [""]);
  }

  /** Of a resource: the names with all endings are free. */
  takeForResource(resource: string, title: unknown): string {
    const isName = typeof title === "string" && /^\p{L}[\p{L}\p{N}_-]*$/u.test(title);
    return this.#takeAll(pascalCase(isName ? title : resource), endings);
  }

  #takeAll(wanted: string, all: readonly string[]): string {
    for (let count = 1; ; count += 1) {
      const name = count === 1 ? wanted : `${wanted}${count}`;
      if (all.some((ending) => this.#taken.has(`${name}${ending}`))) continue;
      for (const ending of all) this.#taken.add(`${name}${ending}`);
      return name;
    }
  }
}

export function pascalCase(text: string): string {
  const words = text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "");
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
  return /^\p{ID_Start}/u.test(name) ? name : `_${name}`;
}
