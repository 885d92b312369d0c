// The alerts of the chart's rules file.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const rulesFile = fileURLToPath(new URL("../../charts/jsonplane/rules/jsonplane.yaml", import.meta.url));

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
}

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly (Omit<AlertRule, "alert"> & { readonly alert?: string })[] }[];
}

export async function alertRules(): Promise<readonly AlertRule[]> {
  const { groups } = parse(await readFile(rulesFile, "utf8")) as RulesFile;
  return groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert, expr }) => (alert === undefined ? [] : [{ alert, expr }]));
}

export async function alertExpr(name: string): Promise<string> {
  const found = (await alertRules()).find(({ alert }) => alert === name);
  if (found === undefined) throw new Error(`There is no alert ${name}`);
  return found.expr;
}
