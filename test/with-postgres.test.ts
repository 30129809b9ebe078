/** The PostgreSQL of a program leaves nothing behind. */
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { withPostgres } from './with-postgres.ts';

describe('the PostgreSQL of a program', () => {
  it('is stopped and its folder removed if the program fails to start its other servers', async () => {
    let url = '';
    const name = `left-${process.pid}`;
    const run = withPostgres(name, async (databaseUrl) => {
      url = databaseUrl;
      const client = new pg.Client({ connectionString: databaseUrl });
      await client.connect();
      await client.end();
      throw new Error('the upstream did not start');
    });
    await expect(run).rejects.toThrow('the upstream did not start');
    await expect(new pg.Client({ connectionString: url }).connect()).rejects.toThrow('ECONNREFUSED');
    expect(readdirSync(tmpdir()).filter((entry) => entry.includes(name))).toEqual([]);
  });
});
