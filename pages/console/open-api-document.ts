// An OpenAPI document as the console reads it: what is missing or of another type is empty.

export type JsonObject = Readonly<Record<string, unknown>>;

/** Follows references within the document. */
export class OpenApiDocument {
  readonly root: JsonObject;

  constructor(root: JsonObject) {
    this.root = root;
  }

  resolve(value: unknown): JsonObject {
    let found = asObject(value);
    // A reference to a reference is rare, and one that leads in a circle is a fault of the
    // document.
    for (let steps = 0; typeof found["$ref"] === "string" && steps < 10; steps += 1) {
      const segments = found["$ref"].replace(/^#\//, "").split("/");
      found = segments.reduce<JsonObject>((at, segment) => objectAt(at, unescaped(segment)), this.root);
    }
    return found;
  }
}

export function asObject(value: unknown): JsonObject {
  return typeof value === "object" && value !== null ? (value as JsonObject) : {};
}

export function objectAt(value: JsonObject, name: string): JsonObject {
  return asObject(Object.hasOwn(value, name) ? value[name] : undefined);
}

export function listIn(value: JsonObject, name: string): readonly unknown[] {
  const found = Object.hasOwn(value, name) ? value[name] : undefined;
  return Array.isArray(found) ? found : [];
}

/** RFC 6901, in the fragment of a URL. */
function unescaped(segment: string): string {
  return decodeURIComponent(segment).replaceAll("~1", "/").replaceAll("~0", "~");
}
