/** Makes an input that crashes smaller while it still crashes in the same way. */

const TRIES = 2_000;

/** The smallest input found for which `crashes` is true. `input` itself must crash. */
export async function minimise(input: Buffer, crashes: (input: Buffer) => Promise<boolean>): Promise<Buffer> {
  let smallest = input;
  let tries = 0;
  for (let size = Math.ceil(input.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.length && tries < TRIES;) {
      const shorter = Buffer.concat([smallest.subarray(0, at), smallest.subarray(at + size)]);
      tries += 1;
      if (await crashes(shorter)) smallest = shorter;
      else at += size;
    }
  }
  return smallest;
}
