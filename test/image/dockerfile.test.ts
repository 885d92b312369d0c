import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { jsonplaneSettings } from "../../tools/image/jsonplane-image.ts";
import { writeSbom } from "../../tools/image/sbom.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFile(join(root, path), "utf8");

it("the Dockerfile sets what the packed archive sets", async () => {
  const dockerfile = await read("deploy/image/Dockerfile");
  const last = dockerfile.slice(dockerfile.lastIndexOf("FROM "));
  const settings = await jsonplaneSettings();
  expect(last).toContain(`USER ${settings.user}`);
  expect(last).toContain(`ENTRYPOINT ${JSON.stringify(settings.entrypoint).replaceAll(",", ", ")}`);
  expect(last).toContain(`CMD ${JSON.stringify(settings.command)}`);
  expect(last).toContain(`WORKDIR ${settings.workingFolder}`);
  expect(last).toContain(`EXPOSE ${settings.ports?.join(" ")}`);
  for (const [name, value] of Object.entries(settings.environment ?? {})) expect(last).toContain(`${name}=${value}`);
  for (const [name, value] of Object.entries(settings.labels ?? {})) {
    const expected = name.endsWith(".version") ? `${name}="$VERSION"` : `${name}="${value}"`;
    expect(last).toContain(expected);
  }
});

it("the Dockerfile names no registry's host", async () => {
  const images = [...(await read("deploy/image/Dockerfile")).matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
  expect(images).toEqual(["node:24-slim", "scratch"]);
});

it("the builder sees every folder that is compiled", async () => {
  const { include } = JSON.parse(await read("tsconfig.build.json")) as { include: string[] };
  const seen = (await read(".dockerignore")).split("\n");
  const needed = [...include, "pages", "tools", "package.json", "package-lock.json", "tsconfig.json", "LICENSE"];
  expect(needed.filter((path) => !seen.includes(`!${path}`))).toEqual([]);
});

it("the list of what the image is made of names Node, every package and what the build takes out of one, and no date", async () => {
  const file = join(root, "test-results/sbom.cdx.json");
  await writeSbom(file);
  const first = await readFile(file, "utf8");
  await writeSbom(file);
  expect(await readFile(file, "utf8")).toBe(first);
  const { components, metadata } = JSON.parse(first);
  const names = components.map(({ name }: { name: string }) => name);
  const { dependencies, devDependencies } = JSON.parse(await read("package.json"));
  expect(names).toEqual(expect.arrayContaining(["node", ...Object.keys(dependencies)]));
  // The build takes the viewer of /docs out of its package, and bundles what the pages import.
  const taken = Object.keys(devDependencies).filter((name) => names.includes(name));
  expect(taken).toEqual(expect.arrayContaining(["@scalar/fastify-api-reference", "preact", "@codemirror/view"]));
  expect(taken).not.toContain("rolldown");
  expect(metadata.component.name).toBe("jsonplane");
});
