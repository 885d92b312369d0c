// What a collection with all its rules should hold and answer, worked out plainly: a map of
// objects, and every rule as the reference says it, looked up in all of them. Nothing in it is
// shared with what it checks. All fields are top-level scalars.

export type Fields = Readonly<Record<string, string | number | null>>;

export interface Rule {
  readonly fields: readonly string[];
  readonly ignoreCase?: true;
  readonly per?: "Owner";
  readonly where?: readonly [string, string];
}

export interface Rules {
  readonly isStrict: boolean;
  readonly ratchets: boolean;
  /** Of `note`; absent = it isn't filled in. */
  readonly filledIn?: string;
  readonly unique: readonly Rule[];
  readonly expiry?: "until" | "ends" | number;
  readonly maxObjects: number;
  readonly readsAll: boolean;
}

export interface Operation {
  readonly op: "add" | "replace" | "remove" | "test" | "increment";
  readonly path: string;
  readonly value?: string | number | null;
  readonly by?: number;
  readonly min?: number;
  readonly max?: number;
}

export type Step = { readonly as: string } & (
  | { readonly what: "create"; readonly body: Fields; readonly key?: string }
  | { readonly what: "put" | "merge"; readonly id: string; readonly body: Fields }
  | { readonly what: "patch"; readonly id: string; readonly body: readonly Operation[] }
  | { readonly what: "upsert"; readonly named: Fields; readonly body: Fields }
  | { readonly what: "delete"; readonly id: string }
);

export interface Item {
  readonly id: string;
  readonly owner: string;
  /** Unix seconds. */
  readonly created: number;
  readonly fields: Fields;
}

/** Status, and the text of an object or the code of a problem. */
export type Answer = readonly [status: number, text?: string];
interface Recorded {
  readonly body: string;
  readonly text: string;
}

export type Made = Pick<Item, "id" | "created">;

const limits = { strict: { stock: 20, name: 3 }, loose: { stock: 1_000, name: 20 } } as const;
const invalid: Answer = [400, "validation_failed"];
const notUnique: Answer = [409, "not_unique"];

interface Tried {
  readonly step: Step;
  readonly now: number;
}

export const textOf = ({ id, owner, created, fields }: Item): string =>
  JSON.stringify({ id, ...fields, _metadata: { created, creator: owner, creator_type: "apikey" } });

export class CollectionModel {
  rules: Rules;
  readonly items: Map<string, Item>;
  readonly #records: Map<string, Recorded>;

  constructor(rules: Rules, items = new Map<string, Item>(), records = new Map<string, Recorded>()) {
    this.rules = rules;
    this.items = items;
    this.#records = records;
  }

  copy = (): CollectionModel => new CollectionModel(this.rules, new Map(this.items), new Map(this.#records));

  endOf({ fields, created }: Pick<Item, "fields" | "created">): number {
    const { expiry } = this.rules;
    if (expiry === undefined) return Number.POSITIVE_INFINITY;
    if (typeof expiry === "number") return (created + expiry) * 1_000;
    const time = fields[expiry];
    return typeof time === "string" ? Date.parse(time) : Number.POSITIVE_INFINITY;
  }

  expire(now: number): void {
    for (const item of this.items.values()) if (this.endOf(item) <= now) this.items.delete(item.id);
  }

  visibleTo(caller: string): readonly Item[] {
    const seen = [...this.items.values()].filter(({ owner }) => this.rules.readsAll || owner === caller);
    return seen.sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** `made` is what the server chose if it created an object. */
  carryOut(step: Step, now: number, made: Made): Answer {
    this.expire(now);
    switch (step.what) {
      case "create":
        return this.#create(step, now, made);
      case "upsert":
        return this.#upsert(step, now, made);
      default: {
        const item = this.items.get(step.id);
        if (item === undefined || !(this.rules.readsAll || item.owner === step.as)) return [404, "not_found"];
        if (item.owner !== step.as) return [403, "insufficient_access"];
        if (step.what !== "delete") return this.#update(item, changed(item.fields, step), { step, now });
        this.items.delete(item.id);
        return [204];
      }
    }
  }

  #create({ as, body, key }: Step & { what: "create" }, now: number, made: Made): Answer {
    const record = this.#records.get(`${as} ${key}`);
    const sent = JSON.stringify(body);
    if (record !== undefined) return record.body === sent ? [201, record.text] : [422, "idempotency_key_reused"];
    const answer = this.#add({ ...made, owner: as, fields: body }, now);
    if (key !== undefined && answer[0] === 201)
      this.#records.set(`${as} ${key}`, { body: sent, text: String(answer[1]) });
    return answer;
  }

  #add(item: Item, now: number, named?: (fields: Fields) => boolean): Answer {
    const { filledIn, maxObjects } = this.rules;
    const filled = {
      ...item,
      fields: "note" in item.fields || !filledIn ? item.fields : { ...item.fields, note: filledIn },
    };
    if (this.#failures(filled.fields).length > 0 || named?.(filled.fields) === false) return invalid;
    if (this.endOf(filled) <= now) return invalid;
    if (this.items.size >= maxObjects) return [403, "quota_exceeded"];
    return this.#store(filled);
  }

  #update(item: Item, fields: Fields | Answer, { step, now }: Tried, named?: (fields: Fields) => boolean): Answer {
    if (isAnswer(fields)) return fields;
    const isSame = JSON.stringify(fields) === JSON.stringify(item.fields);
    const kept = this.rules.ratchets ? this.#failures(item.fields) : [];
    const stands = (name: string) => kept.includes(name) && fields[name] === item.fields[name];
    const isUnchecked = step.what === "merge" || step.what === "patch" ? isSame : isEmpty(step);
    if (!isUnchecked && !this.#failures(fields).every(stands)) return invalid;
    if (named?.(fields) === false) return invalid;
    if (isSame) return [200, textOf(item)];
    if (this.endOf({ ...item, fields }) <= now) return invalid;
    return this.#store({ ...item, fields }, item);
  }

  #store(item: Item, before?: Item): Answer {
    const isBroken = this.rules.unique.some((rule) => {
      const key = keyOf(rule, item);
      return key !== undefined && key !== (before && keyOf(rule, before)) && this.#having(rule, key).length > 0;
    });
    if (isBroken) return notUnique;
    this.items.set(item.id, item);
    return [before ? 200 : 201, textOf(item)];
  }

  #having = (rule: Rule, key: string | undefined) =>
    [...this.items.values()].filter((item) => keyOf(rule, item) === key);

  #upsert(step: Step & { what: "upsert" }, now: number, made: Made): Answer {
    const { as, named, body } = step;
    const { unique, readsAll } = this.rules;
    if (unique.length === 0) return [405, "method_not_allowed"];
    const names = Object.keys(named);
    const rule = unique.find(
      ({ fields }) => fields.length === names.length && fields.every((name) => names.includes(name)),
    );
    if (rule === undefined) return [400, "invalid_parameter"];
    const { where: _, ...everywhere } = rule;
    const wanted = keyOf(everywhere, { owner: as, fields: named });
    const isNamed = (fields: Fields) => keyOf(rule, { owner: as, fields }) === wanted;
    const found = this.#having(rule, wanted);
    const [item] = found;
    if (found.length > 1) return notUnique;
    if (item !== undefined && (readsAll || item.owner === as)) {
      if (item.owner !== as) return [403, "insufficient_access"];
      return this.#update(item, { ...item.fields, ...body }, { step, now }, isNamed);
    }
    const missing = Object.entries(named).filter(([name]) => !(name in body));
    return this.#add({ ...made, owner: as, fields: { ...body, ...Object.fromEntries(missing) } }, now, isNamed);
  }

  /** The fields that the schema refuses. */
  #failures(fields: Fields): readonly string[] {
    const { stock: most, name: longest } = limits[this.rules.isStrict ? "strict" : "loose"];
    const { stock, name, note, group } = fields;
    return [
      ...(stock === undefined || (Number.isInteger(stock) && Number(stock) >= 0 && Number(stock) <= most)
        ? []
        : ["stock"]),
      ...(name === undefined || (typeof name === "string" && name.length <= longest) ? [] : ["name"]),
      ...((note === undefined && !this.rules.isStrict) || typeof note === "string" ? [] : ["note"]),
      ...(typeof group === "number" ? ["group"] : []),
    ];
  }

  static schemaOf({ isStrict, filledIn }: Rules) {
    const { stock, name } = limits[isStrict ? "strict" : "loose"];
    const time = { type: ["string", "null"], format: "date-time" };
    return {
      type: "object",
      properties: {
        name: { type: "string", maxLength: name },
        group: { type: ["string", "null"], maxLength: 20 },
        stock: { type: "integer", minimum: 0, maximum: stock },
        note: { type: "string", ...(filledIn !== undefined && { default: filledIn }) },
        until: time,
        ends: time,
      },
      ...(isStrict && { required: ["note"] }),
    };
  }
}

const isAnswer = (found: Fields | Answer): found is Answer => Array.isArray(found);
const isEmpty = (step: Step) => "body" in step && Object.keys(step.body).length === 0;

function keyOf({ fields, where, per, ignoreCase }: Rule, item: Pick<Item, "owner" | "fields">): string | undefined {
  if (where !== undefined && item.fields[where[0]] !== where[1]) return undefined;
  const values = fields.map((name) => item.fields[name] ?? null);
  if (values.includes(null)) return undefined;
  const key = JSON.stringify([...values, per && item.owner]);
  return ignoreCase ? key.toLowerCase() : key;
}

function changed(before: Fields, step: Step): Fields | Answer {
  if (step.what === "put") return { ...before, ...step.body };
  if (step.what === "merge")
    return without({ ...before, ...step.body }, (value, name) => value === null && name in step.body);
  if (step.what !== "patch") throw new Error(`${step.what} changes nothing`);
  let fields: Fields = before;
  for (const operation of step.body) {
    const after = operated(fields, operation);
    if (isAnswer(after)) return after;
    fields = after;
  }
  return fields;
}

function without(fields: Fields, isLeftOut: (value: unknown, name: string) => boolean): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !isLeftOut(value, name)));
}

function operated(fields: Fields, { op, path, value = null, by = 0, min, max }: Operation): Fields | Answer {
  const name = path.slice(1);
  const conflict: Answer = [409, "patch_conflict"];
  if (op !== "add" && !(name in fields)) return conflict;
  if (op === "remove") return without(fields, (_, other) => other === name);
  if (op === "test") return fields[name] === value ? fields : conflict;
  if (op !== "increment") return { ...fields, [name]: value };
  const before = fields[name];
  if (typeof before !== "number") return conflict;
  const sum = before + by;
  return sum < (min ?? sum) || sum > (max ?? sum) ? [409, "increment_out_of_bounds"] : { ...fields, [name]: sum };
}
