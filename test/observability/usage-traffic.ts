// What a fleet is asked while dashboards are drawn: reads, writes, misses and logins of one
// project.

export function usageManifests(): string {
  const object = (kind: string, name: string, spec: object) =>
    JSON.stringify({ apiVersion: "jsonplane.io/v1alpha1", kind, metadata: { name }, spec });
  const projectRef = { name: "web" };
  const anyone = { read: "Anyone", create: "Anyone", update: "Anyone" };
  return [
    object("Project", "web", { limits: { quota: { bytes: 10_485_760 } } }),
    object("RootKey", "flags", { projectRef, key: "flags", initialValue: { on: true }, access: anyone }),
    object("RootKey", "texts", { projectRef, key: "texts", initialValue: { hello: "Hi" }, access: anyone }),
    object("ApiResource", "items", { projectRef, resourceName: "items", schema: {}, access: anyone }),
    object("ProjectUser", "ann", { projectRef }),
  ].join("\n---\n");
}

export interface UsageRequest {
  readonly path: string;
  readonly options: { readonly method?: string; readonly body?: unknown; readonly as?: string };
}

export const usageRequests: readonly UsageRequest[] = [
  { path: "/json/flags", options: {} },
  { path: "/json/flags/on", options: {} },
  { path: "/json/texts/hello", options: {} },
  { path: "/json/texts/nothing", options: {} },
  { path: "/json/flags/on", options: { method: "PUT", body: false } },
  { path: "/api/items?_limit=10", options: {} },
  { path: "/api/items", options: {} },
  { path: "/api/items", options: { method: "POST", body: { title: "A lamp" } } },
  { path: "/sessions", options: { method: "POST", as: "basic YW5uOndyb25n" } },
];
