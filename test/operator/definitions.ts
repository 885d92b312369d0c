// The CustomResourceDefinitions of a test's API server: deleted, and waited for.

import { expect } from "vitest";
import { type ApiTarget, apiObject } from "../support/kubernetes/api-server/api-server-call.ts";
import { eventually } from "../support/time/eventually.ts";

export function definitionPath(plural: string): string {
  return `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.jsonplane.io`;
}

export async function deleteDefinitions(api: ApiTarget, ...plurals: readonly string[]): Promise<void> {
  for (const plural of plurals) await apiObject(api, definitionPath(plural), { method: "DELETE" });
}

/** Resolves once they are gone, and all their objects. */
export async function definitionsGone(api: ApiTarget, ...plurals: readonly string[]): Promise<void> {
  for (const plural of plurals) {
    await eventually(() => expect(apiObject(api, definitionPath(plural))).rejects.toThrow("NotFound"), {
      withinMs: 90_000,
    });
  }
}
