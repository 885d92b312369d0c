// A small Project as users write it, for tests of what happens around it: a resource that anyone
// reads, and keys.

export interface ShopPlan {
  readonly name?: string;
  /** `rotation.id` of each ApiKey, by name; default: one key, `web`. */
  readonly keys?: Readonly<Record<string, string>>;
  /**
   * Stands in the schema of the resource, so that an edit can be seen: what is longer is refused.
   */
  readonly longest?: number;
  /** Users whose passwords are generated. */
  readonly users?: readonly string[];
  /** Of the Project. */
  readonly deletionPolicy?: "Delete" | "Retain";
}

/** Manifests in one text. */
export function shop({
  name = "shop",
  keys = { web: "one" },
  longest = 100,
  users = [],
  ...plan
}: ShopPlan = {}): string {
  const projectRef = { name };
  return [
    object("Project", name, { ...plan }),
    object("ApiResource", `${name}-items`, {
      projectRef,
      resourceName: "items",
      access: { read: "Anyone", scope: { read: "All", write: "All" } },
      schema: { type: "object", properties: { title: { type: "string", maxLength: longest } } },
    }),
    ...users.map((user) => object("ProjectUser", user, { projectRef, role: "Users", access: "Write" })),
    ...Object.entries(keys).map(([key, id]) => apiKey(key, { project: name, rotation: id })),
  ].join("\n---\n");
}

export function apiKey(name: string, key: { readonly project?: string; readonly rotation: string }): string {
  const { project = "shop", rotation } = key;
  const projectRef = { name: project };
  return object("ApiKey", name, {
    projectRef,
    role: "Administrators",
    access: "Write",
    rotation: { id: rotation, gracePeriod: "0s" },
  });
}

function object(kind: string, name: string, spec: object): string {
  return JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec });
}
