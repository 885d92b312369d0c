import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { filterOperators, type Operator } from "../../../../../core/filter-operators.ts";
import {
  dateOf,
  nextSort,
  readListQuery,
  secondsOf,
  withOperator,
  writeListQuery,
  writtenOperator,
} from "../../../../../pages/console/objects/list-query.ts";

describe("the query of a list", () => {
  it("is read as the service reads it: a colon before an operator divides, any other belongs to the name", () => {
    expect(readListQuery("price:ge=10&a:b=c&title=Emma&_sort=-price&_cursor=abc")).toEqual({
      conditions: [
        { field: "price", operator: "ge", value: "10" },
        { field: "a:b", operator: "", value: "c" },
        { field: "title", operator: "", value: "Emma" },
      ],
      sort: "-price",
      cursor: "abc",
    });
  });

  it("is read as what was written, whatever the values are", () => {
    const condition = fc.record({
      field: fc
        .string({ minLength: 1 })
        .filter((name) => name !== "_sort" && name !== "_cursor" && !name.includes(":") && name.isWellFormed()),
      operator: fc.constantFrom(...(Object.keys(filterOperators) as Operator[]).map(writtenOperator)),
      value: fc.string().filter((value) => value.isWellFormed()),
    });
    const query = fc.record({
      conditions: fc.array(condition, { maxLength: 4 }),
      sort: fc.constantFrom(undefined, "price", "-price"),
      cursor: fc.constantFrom(undefined, "abc"),
    });
    fc.assert(
      fc.property(query, (given) => {
        expect(readListQuery(writeListQuery(given))).toEqual(given);
      }),
    );
  });

  it("sorts a column up, then down, then no more", () => {
    expect([nextSort("-title", "price"), nextSort("price", "price"), nextSort("-price", "price")]).toEqual([
      "price",
      "-price",
      undefined,
    ]);
  });

  it("asks whether a field exists with true or false, also if nobody chooses", () => {
    const condition = { field: "price", operator: "ge", value: "10" };
    expect(withOperator(condition, "exists")).toEqual({ field: "price", operator: "exists", value: "true" });
    expect(withOperator({ ...condition, value: "false" }, "exists").value).toBe("false");
    expect(withOperator(condition, "lt")).toEqual({ field: "price", operator: "lt", value: "10" });
  });

  it("compares the time of creation with all of a day", () => {
    const day = { field: "_metadata.created", operator: "ge", value: secondsOf("2026-11-01", "ge") };
    const { value } = withOperator(day, "le");
    expect([dateOf(day.value), dateOf(value), Number(value) - Number(day.value)]).toEqual([
      "2026-11-01",
      "2026-11-01",
      86_399,
    ]);
    expect(withOperator({ ...day, value: "" }, "le").value).toBe("");
  });
});
