// Recording rules and alerts, tried with promtool; and their runbooks.

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { findPrometheus } from "../../tools/parts/prometheus.ts";
import { runCommand } from "../../tools/parts/run-command.ts";
import { teamRulesFile } from "./alert-rules.ts";
import { playSeries } from "./play-series.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const rules = path("../../charts/jsonplane/rules/jsonplane.yaml");

let promtool: string;

beforeAll(async () => {
  ({ promtool } = await findPrometheus(process.env));
});

interface Alert {
  readonly alert?: string;
  readonly annotations?: Readonly<Record<"runbook" | "summary" | "description", string>>;
  readonly labels?: { readonly severity: string };
}

async function alerts(): Promise<readonly Required<Alert>[]> {
  const { groups } = parse(await readFile(rules, "utf8")) as { groups: readonly { rules: readonly Alert[] }[] };
  return groups.flatMap((group) => group.rules).filter((rule): rule is Required<Alert> => rule.alert !== undefined);
}

describe("the rules", () => {
  it("are taken by promtool", async () => {
    const { code, stdout, stderr } = await runCommand(promtool, ["check", "rules", rules]);
    expect([code, stdout, stderr]).toEqual([0, expect.stringMatching(/SUCCESS: [0-9]+ rules found/), ""]);
  });

  it("fire when they should, with the words they should, and not otherwise", async () => {
    const { code, stdout, stderr } = await runCommand(promtool, ["test", "rules", path("rules.test.yaml")]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toContain("SUCCESS");
  });

  it("are all tried, both ways", async () => {
    const { tests } = parse(await readFile(path("rules.test.yaml"), "utf8")) as {
      tests: readonly { alert_rule_test: readonly { alertname: string; exp_alerts?: unknown }[] }[];
    };
    const tried = tests.flatMap((test) => test.alert_rule_test);
    const names = (await alerts()).map(({ alert }) => alert).sort();
    const firing = new Set(tried.filter((each) => each.exp_alerts !== undefined).map((each) => each.alertname));
    const silent = new Set(tried.filter((each) => each.exp_alerts === undefined).map((each) => each.alertname));
    expect([...firing].sort()).toEqual(names);
    expect([...silent].sort()).toEqual(names);
  });

  it("name a runbook each, which says how severe it is, where to look and what to do; and there is no other runbook", async () => {
    const all = await alerts();
    for (const { alert, annotations, labels } of all) {
      expect(annotations.runbook).toBe(`docs/runbooks/${alert}.md`);
      const text = await readFile(path(`../../${annotations.runbook}`), "utf8");
      expect(text).toContain(`# ${alert}\n\nSeverity: ${labels.severity}\n`);
      expect(text).toMatch(/\n## Look\n\n- [\s\S]*\n## Do\n\n- /);
    }
    const index = await readFile(path("../../docs/runbooks/README.md"), "utf8");
    const pages = all.map(({ alert }) => `${alert}.md`);
    expect((await readdir(path("../../docs/runbooks"))).sort()).toEqual([...pages, "README.md"].sort());
    expect(pages.filter((page) => !index.includes(`(${page})`))).toEqual([]);
  });

  it("say what to run where they are about objects of a namespace, whose team may have no runbooks", async () => {
    const ofTenants = (await alerts()).filter(({ annotations }) => annotations.summary.includes("$labels.namespace"));
    expect(ofTenants.map(({ alert }) => alert)).toContain("JsonplaneObjectStalled");
    for (const { annotations } of ofTenants) {
      expect(annotations.description).toMatch(
        /`kubectl (?:describe|get) .*\.jsonplane\.io --namespace {{ \$labels\.namespace }}.*`/,
      );
    }
  });
});

describe("the alerts for a team", () => {
  it("are about slow and limited projects as well, and about nobody else's", async () => {
    const { spec } = parse(await readFile(teamRulesFile, "utf8")) as { spec: object };
    const folder = await mkdtemp(join(tmpdir(), "jsonplane-team-rules-"));
    try {
      const rules = join(folder, "rules.yaml");
      await writeFile(rules, stringify(spec));
      const labels = (project: string) => `namespace="red",project="${project}",instance="d1"`;
      const upTo = (project: string, le: string, values: string) => ({
        series: `jsonplane_api_request_duration_seconds_bucket{${labels(project)},resource="a",le="${le}"}`,
        values,
      });
      const refused = (project: string, limit: string) => ({
        series: `jsonplane_rate_limited_total{${labels(project)},limit="${limit}"}`,
        values: "0+3x60",
      });
      const series = [
        ...[upTo("slow", "0.5", "0+90x60"), upTo("slow", "1", "0+100x60"), upTo("slow", "+Inf", "0+100x60")],
        ...[upTo("fast", "0.5", "0+100x60"), upTo("fast", "1", "0+100x60"), upTo("fast", "+Inf", "0+100x60")],
        ...[refused("slow", "project"), refused("fast", "caller")],
      ];
      const firing = (alertname: string) => ({
        labels: `ALERTS{alertname="${alertname}",alertstate="firing",namespace="red",project="slow",severity="warning"}`,
        value: 1,
      });
      const samples = ["JsonplaneProjectSlow", "JsonplaneProjectRateLimited"].map(firing);
      const answers = [{ expr: 'ALERTS{alertstate="firing"}', at: "25m", samples }];
      expect(await playSeries({ series, answers, rules: [rules] })).toBe("");
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
