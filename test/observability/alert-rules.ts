// The alerts of the chart's rules file, and those for the team of a namespace.

import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";

export const rulesFile = fileURLToPath(new URL("../../charts/jsonplane/rules/jsonplane.yaml", import.meta.url));

export const teamRulesFile = fileURLToPath(new URL("../../deploy/monitoring/alerts.yaml", import.meta.url));

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
}

interface RulesFile {
  readonly groups: readonly { readonly rules: readonly (Omit<AlertRule, "alert"> & { readonly alert?: string })[] }[];
}

export async function alertRules(): Promise<readonly AlertRule[]> {
  return alertsOf(parse(await readFile(rulesFile, "utf8")) as RulesFile);
}

/** Those that a team applies into its namespace. */
export async function teamAlertRules(): Promise<readonly AlertRule[]> {
  return alertsOf((parse(await readFile(teamRulesFile, "utf8")) as { spec: RulesFile }).spec);
}

function alertsOf({ groups }: RulesFile): readonly AlertRule[] {
  return groups
    .flatMap(({ rules }) => rules)
    .flatMap(({ alert, expr }) => (alert === undefined ? [] : [{ alert, expr }]));
}

export async function alertExpr(name: string): Promise<string> {
  const found = (await alertRules()).find(({ alert }) => alert === name);
  if (found === undefined) throw new Error(`There is no alert ${name}`);
  return found.expr;
}
