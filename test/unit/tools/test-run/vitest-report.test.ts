import { describe, expect, it } from "vitest";
import { verdictsOf } from "../../../../tools/test-run/vitest-report.ts";

type Report = Parameters<typeof verdictsOf>[0];

const file = (name: string, ...statuses: readonly string[]): Report["testResults"][number] => ({
  name: `/repo/${name}`,
  status: statuses.includes("failed") ? "failed" : "passed",
  message: "",
  assertionResults: statuses.map((status, index) => ({ ancestorTitles: ["suite"], title: `test ${index}`, status })),
});
const verdictsFor = (report: Report, ...expected: readonly string[]) => verdictsOf(report, "/repo", expected);
const a = "test/unit/a.test.ts";

describe("the verdicts of a run", () => {
  it("count what passed and failed, and name each test by its suites", () => {
    const verdicts = verdictsFor({ success: false, testResults: [file(a, "passed", "failed")] }, a);
    expect(verdicts).toMatchObject({ passed: 1, failed: 1, complaints: [`${a} › suite › test 1`] });
    expect(verdicts.tests[0]).toEqual({ file: a, name: "suite › test 0", passed: true });
  });

  it("say why a test failed, in one line", () => {
    const failed = file(a, "failed");
    const failureMessages = ["AssertionError: expected 1 to be 2\n    at suite"];
    const assertionResults = failed.assertionResults.map((test) => ({ ...test, failureMessages }));
    const { complaints } = verdictsFor({ success: false, testResults: [{ ...failed, assertionResults }] }, a);
    expect(complaints).toEqual([`${a} › suite › test 0: AssertionError: expected 1 to be 2`]);
  });

  it.each(["skipped", "pending", "todo", "disabled"])("count a test that is %s as failed", (status) => {
    const verdicts = verdictsFor({ success: true, testResults: [file(a, "passed", status)] }, a);
    expect(verdicts).toMatchObject({ passed: 1, failed: 1 });
    expect(verdicts.complaints[0]).toContain("was skipped");
  });

  it("count a file that did not load, and one without tests, as failed", () => {
    const broken = { ...file(a), status: "failed" };
    expect(verdictsFor({ success: false, testResults: [broken] }, a)).toMatchObject({ passed: 0, failed: 1 });
    expect(verdictsFor({ success: true, testResults: [file(a)] }, a)).toMatchObject({ passed: 0, failed: 1 });
  });

  it("count a failure in a hook beside passed tests", () => {
    const broken = { ...file(a, "passed"), status: "failed" };
    expect(verdictsFor({ success: false, testResults: [broken] }, a)).toMatchObject({ passed: 1, failed: 1 });
  });

  it("count a test file that did not run as failed", () => {
    const verdicts = verdictsFor({ success: true, testResults: [file(a, "passed")] }, a, "test/http/b.test.ts");
    expect(verdicts).toMatchObject({ passed: 1, failed: 1, complaints: ["test/http/b.test.ts did not run"] });
  });

  it("count a failure that no test shows, such as an unhandled rejection", () => {
    const verdicts = verdictsFor({ success: false, testResults: [file(a, "passed")] }, a);
    expect(verdicts).toMatchObject({ passed: 1, failed: 1 });
  });
});
