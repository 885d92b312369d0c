// How the ConfigMap of guard rails is read.

import { describe, expect, it } from "vitest";
import { readGuardRails } from "../../../../operator/guard-rails/rules.ts";

describe("guard rails", () => {
  it("have rules for all namespaces, some of which one namespace may replace", () => {
    const { rulesOf } = readGuardRails({
      allowedHosts: "",
      anyone: "Deny",
      maxQuotaObjects: "3",
      "team-a.maxQuotaObjects": "20",
      "team-a.allowedHosts": "team-a=shop.test",
    });
    expect(rulesOf("team-b")).toEqual({ anyone: "Deny", maxQuotaObjects: 3, allowedHosts: [] });
    expect(rulesOf("team-a")).toEqual({
      anyone: "Deny",
      maxQuotaObjects: 20,
      allowedHosts: [{ namespace: "team-a", suffix: "shop.test" }],
    });
  });

  it.each([
    [{ anyone: "Maybe" }, 'anyone must be one of Allow, ReadOnly, Deny, not "Maybe"'],
    [
      { "team-a.maxQuotaObjects": "0" },
      'team-a.maxQuotaObjects must be a whole number of at least 1, such as "1000", not "0"',
    ],
    [{ maxQuotaBytes: "1e6" }, "maxQuotaBytes must be a whole number"],
    [{ maxQuotaBytes: "9999999999999999" }, "maxQuotaBytes must be a whole number"],
    [{ maxquota: "1" }, "maxquota is no rule: known are anyone, authenticationDisabled,"],
    [{ "team.a.anyone": "Deny" }, "team.a.anyone is no rule"],
    [{ "Team.anyone": "Deny" }, "Team.anyone must begin with the name of a namespace and a dot"],
    [{ ".anyone": "Deny" }, ".anyone must begin with the name of a namespace and a dot"],
    [{ constructor: "Deny" }, "constructor is no rule"],
    [{ "__proto__.anyone": "Deny" }, "__proto__.anyone must begin with the name of a namespace"],
    [{ allowedHosts: "shop.test" }, "allowedHosts must list rules such as"],
    [
      { "team-a.maxQuotaObjects": "10", "team-a.defaultQuotaObjects": "11" },
      "team-a.defaultQuotaObjects must not exceed team-a.maxQuotaObjects, which is 10; not 11",
    ],
    [{ maxBurst: "1", defaultBurst: "2" }, "defaultBurst must not exceed maxBurst, which is 1; not 2"],
  ])("with a mistake, %j, are refused with its key and what to write", (data, message) => {
    expect(() => readGuardRails({ allowedHosts: "", ...data } as Record<string, string>)).toThrow(message);
  });

  it("without a word about hosts are refused, so that no namespace loses its hosts with a line", () => {
    expect(() => readGuardRails({ anyone: "Deny" })).toThrow('allowedHosts is missing: write ""');
  });
});
