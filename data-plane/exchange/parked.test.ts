/** Uploads between memory and disk: nothing changes, nothing stays. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Uploads } from './parked.ts';
import type { ParkedFile } from './parked.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'gateway-uploads-'));

async function read(file: ParkedFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('an uploaded file', () => {
  it('comes back as it was, every time it is read, however it was cut', async () => {
    const uploads = new Uploads(folder());
    const pieces = fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(pieces, async (sizes) => {
        const chunks = sizes.map((size, at) => Buffer.alloc(size, `${at}-${size}`));
        const file = uploads.file();
        await file.fill(Readable.from(chunks));
        for (let count = 0; count < 2; count += 1)
          expect((await read(file)).equals(Buffer.concat(chunks))).toBe(true);
        expect(file.size).toBe(Buffer.concat(chunks).length);
        await file.drop();
      }),
      { numRuns: 50 },
    );
    // Time to find the smallest example where one fails.
  }, 120_000);

  it('has no name on the disk', async () => {
    const path = folder();
    const file = new Uploads(path).file();
    await file.fill(Readable.from([Buffer.alloc(300_000, 'a')]));
    expect(readdirSync(path)).toEqual([]);
    expect((await read(file)).length).toBe(300_000);
    await file.drop();
  });

  it('goes to the disk when the memory of all is in use, and memory is given back', async () => {
    const uploads = new Uploads(join(folder(), 'nowhere'));
    const small = (): Readable => Readable.from([Buffer.alloc(250_000)]);
    const files = Array.from({ length: 268 }, () => uploads.file());
    for (const file of files) await file.fill(small());
    // The disk is a folder that does not exist: whoever is sent there finds out.
    await expect(uploads.file().fill(small())).rejects.toMatchObject({ code: 'unavailable' });
    await files[0]?.drop();
    await files[0]?.drop();
    await uploads.file().fill(small());
    await expect(uploads.file().fill(small())).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that is dropped while it is being written leaves nothing open', async () => {
    const uploads = new Uploads(folder());
    const file = uploads.file();
    const filling = file.fill(Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(50_000))));
    await new Promise((resolve) => setImmediate(resolve));
    await file.drop();
    await filling.catch(() => undefined);
    expect((await read(file)).length).toBe(0);
  });
});
