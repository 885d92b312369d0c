// Turns what is served into JSON for a person at a terminal: the URLs of every project, or of one.

import type { CompiledProject } from "../../../core/config/types.ts";
import type { Published } from "../apply/compile-folder.ts";

/** `name` = `<namespace>/<name>`, empty for all; undefined for a project that isn't served. */
export function servedUrls(published: Published, publicUrl: string, name: string): string | undefined {
  const urlsOf = (key: string, parts: CompiledProject): object => projectUrls(key, `${publicUrl}/${key}`, parts);
  if (name === "") return json({ projects: [...published].map(([key, parts]) => urlsOf(key, parts)) });
  const parts = published.get(name);
  return parts === undefined || parts.project.serving === "Off" ? undefined : json(urlsOf(name, parts));
}

function projectUrls(name: string, url: string, { project, resources, rootKeys }: CompiledProject): object {
  return {
    name,
    serving: project.serving,
    url,
    resources: [...resources.keys()].map((resource) => `${url}/api/${resource}`),
    rootKeys: [...rootKeys.keys()].map((rootKey) => `${url}/json/${rootKey}`),
    sessions: `${url}/sessions`,
    ...(project.openapi !== "Nobody" && { docs: `${url}/docs`, openapi: `${url}/openapi.json` }),
    ...(project.console !== "Nobody" && { console: `${url}/console` }),
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
