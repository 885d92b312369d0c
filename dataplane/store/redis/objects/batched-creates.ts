// Batches creates: new small objects of one collection that come in one turn of the event loop are
// stored by one script. Each caller gets the result of its own object, as if it had been created
// alone. A create with an idempotency record runs alone. Refuses as a script does; an unknown
// outcome is unknown for all objects of the script.

import type { RedisClient } from "../../../../core/redis/redis-client.ts";
import type { Repeated } from "../../ports/idempotency.ts";
import type { NotUnique } from "../../ports/objects.ts";
import { separator } from "../keys.ts";
import { code } from "../store-script.ts";
import type { CreateObject, ObjectCode, ObjectScripts } from "./object-scripts.ts";
import { type Batch, createTurnBatches } from "./turn-batches.ts";

type CreateReply = ObjectCode | Repeated | NotUnique;

export interface BatchedCreates {
  create(call: CreateObject): Promise<CreateReply>;
}

/** Objects of one script: so many with three indexes hold Redis for some 0.4 ms. */
const maxBatch = 16;
/** Characters of a text for which others may wait. */
const maxBatchedLength = 16 * 1024;

interface Waiting extends PromiseWithResolvers<CreateReply> {
  readonly call: CreateObject;
}

export function createBatchedCreates(
  redisClient: Pick<RedisClient, "atEndOfTurn" | "sendNow">,
  scripts: Pick<ObjectScripts, "create" | "createTogether">,
): BatchedCreates {
  const createAlone = ({ call, resolve, reject }: Waiting): void => void scripts.create(call).then(resolve, reject);

  const createTogether = async (batch: Batch<Waiting>): Promise<void> => {
    const [first, ...others] = batch;
    try {
      const codes = await scripts.createTogether([first.call, ...others.map(({ call }) => call)]);
      for (const [at, waiting] of batch.entries()) {
        const found = codes[at];
        if (found === undefined || found === code.failed) createAlone(waiting);
        else waiting.resolve(found);
      }
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };

  const add = createTurnBatches<Waiting>({
    redisClient,
    maxLength: maxBatch,
    send: (batch) => void (batch.length === 1 ? createAlone(batch[0]) : createTogether(batch)),
  });

  return {
    create(call) {
      if (call.record !== undefined || call.text.length > maxBatchedLength) return scripts.create(call);
      const { promise, resolve, reject } = Promise.withResolvers<CreateReply>();
      add(batchNameOf(call), { call, promise, resolve, reject });
      return promise;
    },
  };
}

/** What one script can store together: of one collection, with the same indexes, limit and log. */
function batchNameOf({ keys, version, maxObjects }: CreateObject): string {
  return [keys.tag, keys.declaredLog, version, maxObjects].join(separator);
}
