// Names what an erasure by owner can't find in a project, from the project's own description.

import { patiently } from "../service/patiently.ts";
import { type Service, ServiceRefused } from "../service/service.ts";

interface Description {
  readonly tags?: readonly { readonly name: string }[];
  readonly paths?: Readonly<Record<string, { readonly post?: Readonly<Record<string, unknown>> }>>;
}

/** A line for each reason. `searched`: resources of which the objects are known by owner. */
export async function linesOfNotCovered(
  service: Service,
  base: string,
  searched: ReadonlySet<string>,
): Promise<readonly string[]> {
  const description = await read(service, new URL(`${base}/openapi.json`));
  if (description === undefined) {
    return ["root keys, and resources that nobody may read: the project doesn't show which it has (spec.openapi)"];
  }
  const { tags = [], paths = {} } = description;
  const named = (area: string) =>
    tags.filter(({ name }) => name.startsWith(area)).map(({ name }) => name.slice(area.length));
  const resources = named("api/");
  const anonymous = resources.filter((name) => paths[`/api/${name}`]?.post?.["x-jsonplane-permission"] === "Anyone");
  return [
    ...line("root keys", named("json/"), "a value doesn't say who wrote it"),
    ...line(
      "resources",
      resources.filter((name) => !searched.has(name)),
      "nobody may read them",
    ),
    ...line("resources", anonymous, "anyone may create objects there without credentials, which have no owner"),
  ];
}

function line(what: string, names: readonly string[], why: string): readonly string[] {
  return names.length === 0 ? [] : [`${what} ${names.join(", ")}: ${why}`];
}

/** Undefined where nobody may read it. */
async function read(service: Service, url: URL): Promise<Description | undefined> {
  try {
    const response = await patiently(() => service.read(url, { Accept: "application/json" }));
    return (await response.json()) as Description;
  } catch (error) {
    if (error instanceof ServiceRefused && error.status === 403) return undefined;
    throw error;
  }
}
