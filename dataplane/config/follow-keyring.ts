// The fleet's key ring as it is now: read again when its file has changed, which a mounted Secret does by swapping a link, and
// at once when a value was sealed with a key that it lacks. A file that can't be used is reported, without its content, and the
// ring that was read before stays.

import { type Keyring, parseKeyring } from "../../core/config/keyring.ts";
import { KeyNotInRing, open, type SealedPlace } from "../../core/config/seal.ts";

export interface FollowedKeyring {
  current(): Keyring;
  /** Reads the file again, unless it was read less than a second ago. Never rejects. */
  look(): Promise<void>;
  /** `listener` is called after the ring has changed. */
  onChange(listener: () => void): void;
  stop(): void;
}

export interface FollowedKeyringDeps {
  readonly read: () => Promise<string>;
  /** Told once for every new way in which the file can't be used. The error's message holds nothing of the file. */
  readonly onRefused: (error: unknown) => void;
  readonly onChanged?: (ring: Keyring) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
  /** How often the file is looked at, `keyringPollMilliseconds` by default. */
  readonly pollMs?: number;
}

export const keyringPollMilliseconds = 5_000;
const mostOften = 1_000;

/** Rejects when the first reading gives no ring: InvalidKeyring, or as `read` does. */
export async function followKeyring(deps: FollowedKeyringDeps): Promise<FollowedKeyring> {
  const now = deps.now ?? (() => performance.now());
  const listeners: (() => void)[] = [];
  let text = await deps.read();
  let ring = parseKeyring(text);
  let readAt = now();
  let reading: Promise<void> | undefined;
  let refusal: string | undefined;

  /** True when it is another ring than before. */
  const take = (found: string): boolean => {
    const same = found === text;
    if (!same) ring = parseKeyring(found);
    text = found;
    refusal = undefined;
    return !same;
  };
  const refuse = (error: unknown): boolean => {
    const said = error instanceof Error ? error.message : "unknown";
    if (said !== refusal) deps.onRefused(error);
    refusal = said;
    return false;
  };
  const readAgain = async (): Promise<void> => {
    readAt = now();
    const changed = await deps.read().then(take).catch(refuse);
    if (!changed) return;
    deps.onChanged?.(ring);
    for (const listener of listeners) listener();
  };

  const look = (): Promise<void> => {
    if (reading === undefined && now() - readAt < mostOften) return Promise.resolve();
    reading ??= readAgain().finally(() => {
      reading = undefined;
    });
    return reading;
  };
  const timer = setInterval(look, deps.pollMs ?? keyringPollMilliseconds).unref();

  return {
    current: () => ring,
    look,
    onChange: (listener) => void listeners.push(listener),
    stop: () => clearInterval(timer),
  };
}

/** A ring that stays as it is. */
export function unchangingKeyring(ring: Keyring): FollowedKeyring {
  return { current: () => ring, look: () => Promise.resolve(), onChange: () => undefined, stop: () => undefined };
}

/** Opens a value as `open` does; when its key is missing, with the ring that the file holds by now. */
export async function openWithNewest(
  keyring: FollowedKeyring,
  place: Omit<SealedPlace, "uid">,
  sealed: string,
): Promise<{ readonly text: string; readonly uid: string }> {
  const tried = keyring.current();
  try {
    return await open(tried, place, sealed);
  } catch (error) {
    if (!(error instanceof KeyNotInRing)) throw error;
    await keyring.look();
    if (keyring.current() === tried) throw error;
    return await open(keyring.current(), place, sealed);
  }
}
