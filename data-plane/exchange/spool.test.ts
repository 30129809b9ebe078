/** Spooled files keep their bytes, and leave nothing behind. */
import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Spool } from './spool.ts';
import type { SpooledFile } from './spool.ts';
import { SPOOL_DISK_CHECK_MS, SPOOL_DISK_RESERVE_BYTES } from '../limits.ts';

const folder = (): string => mkdtempSync(join(tmpdir(), 'gateway-uploads-'));

async function read(file: SpooledFile): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of file.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe('a spooled file', () => {
  it('returns the same bytes at every read, whatever the chunks were', async () => {
    const spool = new Spool({ folder: folder() });
    const pieces = fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(pieces, async (sizes) => {
        const chunks = sizes.map((size, at) => Buffer.alloc(size, `${at}-${size}`));
        const file = spool.file('one');
        await file.fill(Readable.from(chunks));
        for (let count = 0; count < 2; count += 1)
          expect((await read(file)).equals(Buffer.concat(chunks))).toBe(true);
        expect(file.size).toBe(Buffer.concat(chunks).length);
        await file.drop();
      }),
      { numRuns: 50 },
    );
    // Leaves time to shrink a counterexample.
  }, 120_000);

  it('has no directory entry on disk', async () => {
    const path = folder();
    const file = new Spool({ folder: path }).file('one');
    await file.fill(Readable.from([Buffer.alloc(300_000, 'a')]));
    expect(readdirSync(path)).toEqual([]);
    expect((await read(file)).length).toBe(300_000);
    await file.drop();
  });

  it('goes to the disk above the share of its wallet, and frees its memory when dropped', async () => {
    const spool = new Spool({ folder: join(folder(), 'nowhere') });
    const small = (): Readable => Readable.from([Buffer.alloc(250_000)]);
    const fill = (walletId: string): Promise<void> => spool.file(walletId).fill(small());
    // Half of 64 MiB.
    const files = Array.from({ length: 134 }, () => spool.file('one'));
    for (const file of files) await file.fill(small());
    // The spool's folder does not exist, so a file that goes to the disk fails.
    await expect(fill('one')).rejects.toMatchObject({ code: 'unavailable' });
    await fill('other');
    await files[0]?.drop();
    await files[0]?.drop();
    await files[1]?.drop();
    await fill('one');
    await expect(fill('one')).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('is refused while it would use the reserve of the disk, and accepted when space is free', async () => {
    const disk = { free: SPOOL_DISK_RESERVE_BYTES + 600_000, now: 0 };
    const gauge = { freeBytes: () => Promise.resolve(disk.free), now: () => disk.now };
    const spool = new Spool({ folder: folder(), gauge });
    const large = (): Readable => Readable.from([Buffer.alloc(300_000), Buffer.alloc(150_000)]);
    const first = spool.file('one');
    await first.fill(large());
    // 150,000 bytes are left: the second piece finds no space.
    const refused = spool.file('one');
    await expect(refused.fill(large())).rejects.toMatchObject({ code: 'unavailable' });
    const small = spool.file('one');
    await small.fill(Readable.from([Buffer.alloc(200_000)]));
    expect(small.size).toBe(200_000);
    disk.free = SPOOL_DISK_RESERVE_BYTES + 1_000_000;
    disk.now += SPOOL_DISK_CHECK_MS;
    const later = spool.file('one');
    await later.fill(large());
    expect((await read(later)).length).toBe(450_000);
    for (const file of [first, refused, small, later]) await file.drop();
  });

  it('is refused if the free space of the disk cannot be measured', async () => {
    const gauge = { freeBytes: () => Promise.reject(new Error('no such folder')), now: () => 0 };
    const file = new Spool({ folder: folder(), gauge }).file('one');
    await expect(file.fill(Readable.from([Buffer.alloc(300_000)]))).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('occupies one buffer, whatever the number of its chunks', async () => {
    const file = new Spool({ folder: folder() }).file('one');
    await file.fill(Readable.from(Array.from({ length: 5_000 }, (_, at) => Buffer.from([at % 251]))));
    const chunks: Buffer[] = [];
    for await (const chunk of file.read()) chunks.push(chunk);
    expect(chunks.map((chunk) => chunk.length)).toEqual([5_000]);
    expect(chunks[0]?.[4_999]).toBe(4_999 % 251);
    await file.drop();
  });

  it('has no content after it was dropped during the write', async () => {
    const spool = new Spool({ folder: folder() });
    const file = spool.file('one');
    const filling = file.fill(Readable.from(Array.from({ length: 50 }, () => Buffer.alloc(50_000))));
    await new Promise((resolve) => setImmediate(resolve));
    await file.drop();
    await filling.catch(() => undefined);
    expect((await read(file)).length).toBe(0);
  });
});
