import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { ApiKey, CustomResource, Project, ProjectUser } from "../../operator/model/objects.ts";
import { noticeCatalogue, reasonCatalogue } from "../../operator/model/reasons.ts";
import {
  namespaceAnnotation,
  ownerAnnotation,
  ownLabels,
  ownSecretNames,
  projectAnnotation,
  rotationAnnotation,
} from "../../operator/model/secret-names.ts";
import { rotateSigningKeyAnnotation } from "../../operator/resolve/signing.ts";

const text = readFileSync(new URL("../../docs/reference/secrets.md", import.meta.url), "utf8");
const section = (title: string): string => text.split("\n## ").find((part) => part.startsWith(title)) ?? "";

function object<O extends CustomResource>(kind: O["kind"]): O {
  return { kind, metadata: { name: "<name>", namespace: "default" }, spec: {} } as unknown as O;
}

describe("docs/reference/secrets.md", () => {
  it("lists the Secrets that are made, and no other", () => {
    const rows = [...(text.split("\n## ")[0] ?? "").matchAll(/^\| `([^`]+)`/gm)].map(([, name]) => name);
    const objects = [object<ApiKey>("ApiKey"), object<ProjectUser>("ProjectUser"), object<Project>("Project")];
    expect(rows).toEqual(objects.flatMap(ownSecretNames));
  });

  it("names the labels and annotations as they are", () => {
    const words = [
      ...Object.keys(ownLabels(object<ApiKey>("ApiKey"))),
      namespaceAnnotation,
      ownerAnnotation,
      projectAnnotation,
      rotationAnnotation,
    ];
    for (const word of [...words, rotateSigningKeyAnnotation]) expect(text).toContain(word);
  });

  it("mentions no reason that there is not", () => {
    const known = new Set([...Object.keys(reasonCatalogue), ...Object.keys(noticeCatalogue)]);
    const mentioned = [...section("What happens when").matchAll(/`((?:Key|Secret|Exp)[A-Za-z]+)`/g)];
    expect(mentioned.length).toBeGreaterThanOrEqual(3);
    for (const [, reason] of mentioned) expect(known).toContain(reason);
  });
});
