// Which primary of a Redis Cluster holds what of many Projects, by the names of their keys.

import type { ProjectRef } from "../../core/config/types.ts";
import { collectionKeys, hashTagOf } from "../../dataplane/store/redis/keys.ts";
import { printTable } from "./figures.ts";

const slots = 16_384;
const projects = 100_000;
const resources = ["books", "notes"];

export function refOf(index: number): ProjectRef {
  return { namespace: `team-${Math.floor(index / 10)}`, name: `project-${index}` };
}

/** CRC-16/XMODEM, as the Cluster specification has it, of a hash tag. */
export function slotOf(tag: string): number {
  let crc = 0;
  for (const byte of Buffer.from(tag)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xffff;
  }
  return crc % slots;
}

/** As `redis-cli --cluster create` shares them. */
export function primaryOf(slot: number, primaries: number): number {
  return Math.min(primaries - 1, Math.floor((slot * primaries) / slots));
}

export function collectionTag(project: ProjectRef, resource: string): string {
  return hashTagOf(collectionKeys({ project, resource }).ids);
}

/** Equal = all collections are of one size; skewed = a fifth of them has three quarters of all. */
interface Load {
  readonly equal: Float64Array;
  readonly skewed: Float64Array;
  /** Part of the largest collection. */
  readonly largest: number;
}

export function printDistribution(): void {
  const { equal, skewed, largest } = loadOfSlots();
  const ofSlots = (load: Float64Array): string => fullest(load, slots).toFixed(1);
  console.log(`${projects.toLocaleString("en")} Projects of two collections. What the fullest one has, as a multiple`);
  console.log("of the mean:\n");
  printTable(
    ["primaries", "collections of equal sizes", "a fifth of them has three quarters"],
    [
      ...[3, 6, 12, 25, 50].map((count) => [
        count,
        fullest(equal, count).toFixed(2),
        fullest(skewed, count).toFixed(2),
      ]),
      [`slots, of ${slots}`, ofSlots(equal), ofSlots(skewed)],
    ],
  );
  console.log(`\nThe largest of the unequal collections has ${(100 * largest).toFixed(1)} % of all.`);
}

function loadOfSlots(): Load {
  const [equal, skewed] = [new Float64Array(slots), new Float64Array(slots)];
  const collections = projects * resources.length;
  let [total, biggest] = [0, 0];
  const add = (tag: string, size: number): void => {
    const slot = slotOf(tag);
    equal[slot] = (equal[slot] ?? 0) + 1;
    skewed[slot] = (skewed[slot] ?? 0) + size;
    total += size;
    biggest = Math.max(biggest, size);
  };
  for (let index = 0; index < projects; index += 1) {
    const project = refOf(index);
    resources.forEach((resource, at) => {
      add(collectionTag(project, resource), paretoSize(index * resources.length + at, collections));
    });
  }
  return { equal, skewed, largest: biggest / total };
}

/** Pareto's distribution of 80 to 20, cut off; ranks are spread over the indexes by a prime. */
function paretoSize(index: number, count: number): number {
  const shape = Math.log(5) / Math.log(4);
  const rank = (index * 7_919) % count;
  return ((rank + 0.5) / count) ** (-1 / shape);
}

/** The fullest of so many equal ranges of slots, as a multiple of their mean. */
function fullest(load: Float64Array, primaries: number): number {
  const sums = Array.from({ length: primaries }, () => 0);
  for (const [slot, size] of load.entries()) {
    const at = primaryOf(slot, primaries);
    sums[at] = (sums[at] ?? 0) + size;
  }
  return Math.max(...sums) / (sums.reduce((sum, size) => sum + size, 0) / primaries);
}
