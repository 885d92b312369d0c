// What a process calls itself in the Lease and in Events: its host's name for people, and random bytes, since a container that
// is started again has the same host name and is another process.

const randomBytes = 8;

export function newIdentity(hostname: string, random: (bytes: number) => Uint8Array): string {
  return `${hostname}_${Buffer.from(random(randomBytes)).toString("hex")}`;
}
