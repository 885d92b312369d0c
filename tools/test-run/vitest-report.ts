// Turns vitest's JSON report into one verdict per test and truthful counts: a test that was
// skipped, a file that didn't load and a file that never ran all count as failures. Refuses a
// report that is missing or has another shape.

import { readFile } from "node:fs/promises";
import { relative, sep } from "node:path";

export interface TestVerdict {
  /** From the root: `test/http/lists.test.ts`. */
  readonly file: string;
  /** Suites and title, joined by ` › `. */
  readonly name: string;
  readonly passed: boolean;
}

export interface Verdicts {
  readonly tests: readonly TestVerdict[];
  readonly passed: number;
  readonly failed: number;
  /** One sentence for each failure. */
  readonly complaints: readonly string[];
}

interface ReportedTest {
  readonly ancestorTitles: readonly string[];
  readonly title: string;
  readonly status: string;
  /** With stacks. */
  readonly failureMessages?: readonly string[];
}

interface ReportedFile {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly ReportedTest[];
}

export interface Report {
  readonly success: boolean;
  readonly testResults: readonly ReportedFile[];
}

export async function readReport(path: string): Promise<Report> {
  const report = JSON.parse(await readFile(path, "utf8")) as Partial<Report>;
  if (!Array.isArray(report.testResults) || typeof report.success !== "boolean") {
    throw new Error(`${path} is no report of vitest's`);
  }
  return { success: report.success, testResults: report.testResults };
}

/** A run that wrote no report has passed nothing. */
export function reportOrNothing(path: string): Promise<Report> {
  return readReport(path).catch((error: unknown) => {
    console.error(`vitest left no report: ${error instanceof Error ? error.message : error}`);
    return { success: false, testResults: [] };
  });
}

/** `expected`: the test files that had to run, as paths from the root. */
export function verdictsOf(report: Report, root: string, expected: readonly string[]): Verdicts {
  const files = report.testResults.map((file) => ({ ...file, path: relative(root, file.name).split(sep).join("/") }));
  const tests = files.flatMap((file) => file.assertionResults.map((test) => verdict(file.path, test)));
  const ran = new Set(files.map((file) => file.path));
  const results = files.flatMap(({ path, assertionResults }) => assertionResults.map((test) => ({ path, test })));
  const failed = results.filter(({ test }) => test.status === "failed");
  const skipped = results.filter(({ test }) => isSkipped(test));
  const outside = [
    ...files.filter(isBroken).map((file) => `${file.path} failed outside its tests`),
    ...files.filter((file) => file.assertionResults.length === 0).map((file) => `${file.path} holds no test that ran`),
    ...expected.filter((path) => !ran.has(path)).map((path) => `${path} did not run`),
  ];
  const failures = failed.length + skipped.length + outside.length;
  const unexplained = !report.success && failures === 0 ? ["vitest reports a failure outside all tests"] : [];
  return {
    tests,
    passed: tests.length - failed.length - skipped.length,
    failed: failures + unexplained.length,
    complaints: [
      ...failed.map(({ path, test }) => failedMessage(path, test)),
      ...skipped.map(({ path, test }) => skippedMessage(path, test)),
      ...outside,
      ...unexplained,
    ],
  };
}

/** Of several runs, as of one. */
export function joinVerdicts(verdicts: readonly Verdicts[]): Verdicts {
  return {
    tests: verdicts.flatMap(({ tests }) => tests),
    passed: verdicts.reduce((sum, { passed }) => sum + passed, 0),
    failed: verdicts.reduce((sum, { failed }) => sum + failed, 0),
    complaints: verdicts.flatMap(({ complaints }) => complaints),
  };
}

function verdict(file: string, test: ReportedTest): TestVerdict {
  return { file, name: nameOf(test), passed: test.status === "passed" };
}

function nameOf({ ancestorTitles, title }: ReportedTest): string {
  return [...ancestorTitles, title].join(" › ");
}

const maxMessageLength = 300;

/** What vitest printed about it may be thousands of lines above the end. */
function failedMessage(path: string, test: ReportedTest): string {
  const [message = ""] = test.failureMessages?.[0]?.split("\n") ?? [];
  return [`${path} › ${nameOf(test)}`, message.slice(0, maxMessageLength)].filter(Boolean).join(": ");
}

function isSkipped(test: ReportedTest): boolean {
  return test.status !== "passed" && test.status !== "failed";
}

function skippedMessage(path: string, test: ReportedTest): string {
  return `${path} › ${nameOf(test)} was skipped (${test.status})`;
}

/** A hook or the file itself threw, and no test carries the failure. */
function isBroken(file: ReportedFile): boolean {
  const carried = file.assertionResults.length === 0 || file.assertionResults.some((test) => test.status === "failed");
  return file.status === "failed" && !carried;
}
