// Drafts of stored JSON against a server whose answers come when the test says so: nothing that was
// entered is replaced, and nothing that nobody has seen is overwritten.

import { describe, expect, it } from "vitest";
import type { Answer, ConditionalRequest } from "../../../../../pages/console/stored/send-conditionally.ts";
import { type Stored, StoredText, type StoredTextOptions } from "../../../../../pages/console/stored/stored-text.ts";

interface Sent {
  readonly request: ConditionalRequest;
  readonly answer: (answer: Answer) => Promise<void>;
}

const ok = (text: string, etag: string): Answer => ({ ok: true, text, etag });
const refused = (status: number): Answer => ({ ok: false, problem: { status, title: `Status ${status}` } });
const version = (text: string, etag: string): Stored => ({ body: text, text, etag });

function started(more: Pick<StoredTextOptions, "hasMoved"> = {}) {
  const sent: Sent[] = [];
  const text = new StoredText({
    ...more,
    url: "json/settings",
    editable: (body) => {
      if (body.startsWith("<")) throw new TypeError("The server stores JSON");
      return body;
    },
    writeOf: (body) => ({ method: "PUT", body }),
    onChange: () => undefined,
    send: (request) =>
      new Promise((resolve) => {
        const answer = async (given: Answer): Promise<void> => {
          resolve(given);
          await new Promise((resume) => setImmediate(resume));
        };
        sent.push({ request, answer });
      }),
  });
  const answer = async (given: Answer): Promise<void> => await sent.at(-1)?.answer(given);
  return { text, sent, answer };
}

/** One that has read `1`, with the tag `a`. */
async function loaded(more: Pick<StoredTextOptions, "hasMoved"> = {}) {
  const all = started(more);
  void all.text.load();
  await all.answer(ok("1", "a"));
  return all;
}

/** One whose draft `2` was refused, because somebody else had stored `3`, with the tag `b`. */
async function inConflict() {
  const all = await loaded();
  all.text.edit("2");
  void all.text.save(all.text.state.stored);
  await all.answer(refused(412));
  await all.answer(ok("3", "b"));
  return all;
}

describe("a draft of stored text", () => {
  it("begins as what is stored, and is saved on the condition that this is still stored", async () => {
    const { text, sent, answer } = await loaded();
    expect(text.state).toMatchObject({ draft: "1", stored: version("1", "a") });
    text.edit("2.0");
    expect(text.isDirty).toBe(true);
    const saved = text.save(text.state.stored);
    expect(sent.at(-1)?.request).toEqual({
      url: "json/settings",
      method: "PUT",
      body: "2.0",
      condition: { etag: "a" },
    });
    await answer(ok("2", "b"));
    expect(await saved).toBe(true);
    expect(text.state).toMatchObject({ draft: "2", stored: version("2", "b"), message: "Saved." });
    expect(sent).toHaveLength(2);
  });

  it("outlives an answer to a request that was sent before it was entered", async () => {
    const { text, answer } = await loaded();
    void text.load();
    text.edit("2");
    await answer(ok("3", "b"));
    expect(text.state).toMatchObject({ draft: "2", stored: version("1", "a") });
  });

  it("outlives the save of an earlier draft, and is saved over that", async () => {
    const { text, answer } = await loaded();
    text.edit("2");
    void text.save(text.state.stored);
    text.edit("22");
    await answer(ok("2", "b"));
    expect(text.state).toMatchObject({ draft: "22", stored: version("2", "b"), message: "" });
    expect(text.isDirty).toBe(true);
  });

  it("outlives a reload that fails, and says why", async () => {
    const { text, answer } = await loaded();
    void text.load();
    await answer(refused(503));
    expect(text.state).toMatchObject({ draft: "1", stored: version("1", "a"), loadProblem: { status: 503 } });
  });

  it("outlives an answer that is none of the service's", async () => {
    const { text, answer } = await loaded();
    text.edit("2");
    const saved = text.save(text.state.stored);
    await answer(ok("<html>", "p"));
    expect(await saved).toBe(false);
    expect(text.state).toMatchObject({
      draft: "2",
      stored: version("1", "a"),
      writing: undefined,
      writeProblem: { title: "The answer did not come from this API" },
    });
  });

  it("is not saved over a version without a tag, as some proxies send it", async () => {
    const { text, sent, answer } = started();
    void text.load();
    await answer({ ok: true, text: "1" });
    text.edit("2");
    expect(await text.save(text.state.stored)).toBe(false);
    expect(sent).toHaveLength(1);
    expect(text.state.writeProblem?.title).toContain("without an ETag");
  });

  it("is not read anew while it is saved", async () => {
    const { text, sent } = await loaded();
    text.edit("2");
    void text.save(text.state.stored);
    expect(await text.load()).toBeUndefined();
    expect(sent).toHaveLength(2);
  });

  it("is saved once at a time", async () => {
    const { text, sent } = await loaded();
    text.edit("2");
    void text.save(text.state.stored);
    expect(await text.save(text.state.stored)).toBe(false);
    expect(sent).toHaveLength(2);
  });
});

describe("answers to reads", () => {
  it("don't replace those to later reads", async () => {
    const { text, sent } = await loaded();
    void text.load();
    void text.load();
    await sent[2]?.answer(ok("3", "c"));
    await sent[1]?.answer(ok("2", "b"));
    expect(text.state.stored).toEqual(version("3", "c"));
  });

  it("don't replace what was saved after they were sent", async () => {
    const { text, sent } = await loaded();
    void text.load();
    text.edit("2");
    void text.save(text.state.stored);
    await sent[2]?.answer(ok("2", "b"));
    await sent[1]?.answer(ok("1", "a"));
    expect(text.state).toMatchObject({ draft: "2", stored: version("2", "b") });
  });
});

describe("what somebody else changes", () => {
  it("is shown where nothing was entered", async () => {
    const { text, answer } = await loaded();
    const read = text.load();
    await answer({ ok: true, text: "3", etag: "b", position: "p" });
    expect(await read).toEqual({ position: "p" });
    expect(text.state).toMatchObject({ draft: "3", stored: { etag: "b" }, conflict: undefined });
    expect(text.state.message).toContain("Somebody else");
  });

  it("is a conflict with what was entered, about the newest version, until that is stored again", async () => {
    const { text, answer } = await loaded();
    text.edit("2");
    for (const [body, etag] of [
      ["3", "b"],
      ["4", "c"],
    ] as const) {
      void text.load();
      await answer(ok(body, etag));
      expect(text.state).toMatchObject({ draft: "2", stored: { etag: "a" } });
      expect(text.state.conflict).toEqual({ action: undefined, current: version(body, etag), hasMoved: false });
    }
    void text.load();
    await answer(ok("1", "a"));
    expect(text.state).toMatchObject({ draft: "2", conflict: undefined });
  });

  it("stays in what is kept of the person's own, which is saved over it", async () => {
    const { text, sent, answer } = started();
    void text.load();
    await answer(ok('{"a":1}', "a"));
    text.edit('{"a":2}');
    void text.load();
    await answer(ok('{"a":3,"b":4}', "b"));
    text.keepMine();
    expect(text.state.conflict).toBeUndefined();
    expect(JSON.parse(text.state.draft)).toEqual({ a: 2, b: 4 });
    void text.save(text.state.stored);
    expect(sent.at(-1)?.request.condition).toEqual({ etag: "b" });
  });

  it("is what remains where the person discards the rest, and its end is never taken back", async () => {
    const { text, answer } = await loaded();
    text.edit("2");
    void text.load();
    await answer(ok("3", "b"));
    text.discard();
    expect(text.state).toMatchObject({ draft: "3", stored: { etag: "b" }, conflict: undefined });
    void text.load();
    await answer(refused(404));
    text.discard();
    expect(text.state.conflict).toEqual({ action: undefined, current: undefined, hasMoved: false });
  });

  it("leaves alone what the person is asked about since a write was refused", async () => {
    const { text, answer } = await inConflict();
    void text.load();
    await answer(ok("4", "c"));
    expect(text.state.conflict).toMatchObject({ action: "save", current: { etag: "b" } });
  });
});

describe("a conflict", () => {
  it("keeps the draft, and knows the version that it is about", async () => {
    const { text } = await inConflict();
    expect(text.state).toMatchObject({ draft: "2", conflict: { action: "save", current: version("3", "b") } });
    expect(text.state.writing).toBeUndefined();
  });

  it("is settled by a save over that version and no other one", async () => {
    const { text, sent, answer } = await inConflict();
    void text.save(text.state.conflict?.current);
    expect(sent.at(-1)?.request).toMatchObject({ method: "PUT", body: "2", condition: { etag: "b" } });
    await answer(refused(412));
    await answer(ok("4", "c"));
    expect(text.state.conflict).toEqual({ action: "save", current: version("4", "c"), hasMoved: false });
  });

  it("keeps what only somebody else has changed, also in what is entered while it is settled", async () => {
    const { text, sent, answer } = started();
    void text.load();
    await answer(ok('{"a":1}', "a"));
    text.edit('{"a":2}');
    void text.save(text.state.stored);
    await answer(refused(412));
    await answer(ok('{"a":3,"b":4}', "b"));
    void text.save(text.state.conflict?.current);
    expect(JSON.parse(sent.at(-1)?.request.body ?? "")).toEqual({ a: 2, b: 4 });
    expect(sent.at(-1)?.request.condition).toEqual({ etag: "b" });
    text.edit(text.state.draft.replace("2", "22"));
    await answer(ok('{"a":2,"b":4}', "c"));
    expect(JSON.parse(text.state.draft)).toEqual({ a: 22, b: 4 });
  });

  it("is settled by what somebody else has stored, without another request", async () => {
    const { text, sent } = await inConflict();
    const before = sent.length;
    text.takeTheirs();
    expect(text.state).toMatchObject({ draft: "3", stored: version("3", "b"), conflict: undefined });
    expect(sent).toHaveLength(before);
  });

  it("of a delete is settled by a delete", async () => {
    const { text, sent, answer } = await loaded();
    void text.remove(text.state.stored);
    expect(sent.at(-1)?.request).toEqual({ url: "json/settings", method: "DELETE", condition: { etag: "a" } });
    await answer(refused(412));
    await answer(ok("3", "b"));
    expect(text.state.conflict).toEqual({ action: "delete", current: version("3", "b"), hasMoved: false });
    const removed = text.remove(text.state.conflict?.current);
    expect(sent.at(-1)?.request).toMatchObject({ method: "DELETE", condition: { etag: "b" } });
    await answer(ok("", "b"));
    expect(await removed).toBe(true);
  });

  it.each([412, 404])(
    "about what is deleted (%i) is settled by a save only while nothing is stored",
    async (status) => {
      const { text, sent, answer } = await loaded();
      text.edit("2");
      void text.save(text.state.stored);
      await answer(refused(status));
      await answer(refused(404));
      expect(text.state).toMatchObject({ draft: "2", conflict: { action: "save", current: undefined } });
      void text.save(undefined);
      expect(sent.at(-1)?.request).toMatchObject({ method: "PUT", body: "2", condition: "nothing stored" });
      await answer(ok("2", "c"));
      expect(text.state).toMatchObject({ conflict: undefined, stored: version("2", "c") });
    },
  );

  it("is none where what was to be deleted is gone", async () => {
    const { text, answer } = await loaded();
    const removed = text.remove(text.state.stored);
    await answer(refused(404));
    await answer(refused(404));
    expect(await removed).toBe(true);
    expect(text.state.conflict).toBeUndefined();
  });

  it("says so where what was to be deleted may be at another place, although nothing is at this one", async () => {
    const { text, answer } = await loaded({ hasMoved: async (seen) => seen.etag === "a" });
    const removed = text.remove(text.state.stored);
    await answer(refused(404));
    await answer(refused(404));
    expect(await removed).toBe(false);
    expect(text.state.conflict).toEqual({ action: "delete", current: undefined, hasMoved: true });
  });

  it("that can't be read is a problem", async () => {
    const { text, answer } = await loaded();
    text.edit("2");
    void text.save(text.state.stored);
    await answer(refused(412));
    await answer(refused(503));
    expect(text.state).toMatchObject({ draft: "2", writeProblem: { status: 503 }, writing: undefined });
    expect(text.state.conflict).toBeUndefined();
  });
});

describe("a save that is refused", () => {
  it.each([400, 403, 0])("with %i keeps the draft, and says why", async (status) => {
    const { text, answer } = await loaded();
    text.edit("2");
    const saved = text.save(text.state.stored);
    await answer(refused(status));
    expect(await saved).toBe(false);
    expect(text.state).toMatchObject({ draft: "2", writeProblem: { status }, writing: undefined });
  });

  it("with 404 where nothing was expected is no second conflict", async () => {
    const { text, answer } = await loaded();
    void text.save(undefined);
    await answer(refused(404));
    expect(text.state).toMatchObject({ writeProblem: { status: 404 }, conflict: undefined });
  });
});
