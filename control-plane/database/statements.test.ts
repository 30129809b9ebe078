/** Statements that are sent together have the results and errors that they have one after another. */
import type { EntityManager } from '@mikro-orm/postgresql';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openMoney } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { command, reading, run, runTogether } from './statements.ts';
import type { ReadStatement } from './statements.ts';
import { inTransaction, query, queryRow, sql } from './sql.ts';
import type { Statement } from './sql.ts';
import { textArray } from './text-array.ts';

let money: Money;
/** A superuser: the gateway's role must not end connections. */
let admin: pg.Client;
beforeAll(async () => {
  money = await openMoney();
  admin = new pg.Client({ connectionString: money.url });
  await admin.connect();
});
afterAll(async () => {
  await admin.end();
  await money.close();
});

/** A transaction, and the process id of its connection. */
async function begun(): Promise<{ em: EntityManager; pid: number }> {
  const em = money.em();
  await em.begin();
  const { pid } = await queryRow<{ pid: number }>(em, sql`select pg_backend_pid() as pid`);
  return { em, pid };
}

/** The event that the connection waits for; no row if it has ended. */
async function stateOf(pid: number): Promise<unknown[]> {
  const { rows } = await admin.query<{ event: string | null }>(
    'select wait_event as event from pg_stat_activity where pid = $1',
    [pid],
  );
  return rows;
}

const rowsOf = (statement: Statement): ReadStatement<unknown[]> => reading(statement, (rows) => [...rows]);
const together = (statements: readonly ReadStatement<unknown>[]): Promise<readonly unknown[]> =>
  inTransaction(money.em(), (em) => runTogether(em, statements));
const insert = (name: string): Statement =>
  sql`insert into usage_request (request_id, at) values (${name}, 'epoch')`;

describe('statements that are sent together', () => {
  it('run in their order, and each gets its own rows', async () => {
    const results = await inTransaction(money.em(), (em) =>
      runTogether(em, [
        rowsOf(sql`select request_id from usage_request where request_id = 'Oslo'`),
        command(insert('Oslo')),
        reading(
          sql`select request_id as name from usage_request`,
          (rows: readonly { name: string }[]) => rows[0]?.name,
        ),
        rowsOf(sql`select 1 as one where false`),
        rowsOf(sql`select n from generate_series(1, 3) as n`),
      ]),
    );
    expect(results).toEqual([[], undefined, 'Oslo', [], [{ n: 1 }, { n: 2 }, { n: 3 }]]);
  });

  it('have their results as well if there is one, and if there is none', async () => {
    expect(await together([rowsOf(sql`select 1 as one`)])).toEqual([[{ one: 1 }]]);
    expect(await together([])).toEqual([]);
  });

  it('send the values that a statement alone sends', async () => {
    const list = ['a,', null, '"'];
    const values = sql`select ${null}::text as none, ${'"é" \\'}::text as text, ${7}::integer as number,
      ${true}::boolean as flag, ${list}::text[] as list, ${textArray(list)}::text[] as bytes,
      ${9_007_199_254_740_993n}::bigint as large`;
    const alone = await run(money.em(), rowsOf(values));
    expect(await together([rowsOf(values), rowsOf(values)])).toEqual([alone, alone]);
  });

  it('fail with the error of the first that fails, and those after it do not run', async () => {
    const em = money.em();
    await em.begin();
    await query(em, sql`savepoint before`);
    const statements = [command(insert('Rome')), command(insert('Rome')), command(insert('Bern'))];
    await expect(runTogether(em, statements)).rejects.toMatchObject({ code: '23505' });
    await query(em, sql`rollback to savepoint before`);
    expect(
      await run(em, rowsOf(sql`select from usage_request where request_id in ('Rome', 'Bern')`)),
    ).toEqual([]);
    await em.commit();
  });

  it('fail if one waits too long for a lock, and the connection runs further ones', async () => {
    const [holder, em] = [money.em(), money.em()];
    await holder.begin();
    await run(holder, command(insert('Riga')));
    await em.begin();
    await runTogether(em, [command(sql`set local lock_timeout = '1ms'`), command(sql`savepoint before`)]);
    const statements = [command(insert('Lima')), command(insert('Riga')), rowsOf(sql`select 1 as one`)];
    await expect(runTogether(em, statements)).rejects.toMatchObject({ code: '55P03' });
    const further = [command(sql`rollback to savepoint before`), rowsOf(sql`select 1 as one`)];
    expect(await runTogether(em, further)).toEqual([undefined, [{ one: 1 }]]);
    await em.commit();
    await holder.rollback();
    const stored = rowsOf(sql`select from usage_request where request_id in ('Lima', 'Riga')`);
    expect(await run(money.em(), stored)).toEqual([]);
  });

  it('are refused if a value cannot be sent, and the connection is as before', async () => {
    const em = money.em();
    await em.begin();
    await expect(runTogether(em, [command(sql`select ${{}}::text`)])).rejects.toThrow(
      'A parameter is neither',
    );
    expect(await run(em, rowsOf(sql`select 1 as one`))).toEqual([{ one: 1 }]);
    await em.rollback();
  });

  it('fail if the connection ends before they have results', async () => {
    const { em, pid } = await begun();
    const results = runTogether(em, [command(sql`select pg_sleep(60)`), rowsOf(sql`select 1`)]);
    const failed = expect(results).rejects.toThrow(/terminating connection|Connection terminated/);
    await expect.poll(() => stateOf(pid)).toEqual([{ event: 'PgSleep' }]);
    await admin.query('select pg_terminate_backend($1)', [pid]);
    await failed;
    await em.rollback().catch(() => undefined);
    expect(await run(money.em(), rowsOf(sql`select 1 as one`))).toEqual([{ one: 1 }]);
  });

  it('fail if one cannot be written, and their transaction ends', async () => {
    const { em, pid } = await begun();
    const text: unknown = {};
    const statements = [rowsOf(sql`select 1`), rowsOf({ text: text as string, values: [] })];
    await expect(runTogether(em, statements)).rejects.toThrow(TypeError);
    await expect.poll(() => stateOf(pid)).toEqual([]);
    await em.rollback().catch(() => undefined);
    expect(await run(money.em(), rowsOf(sql`select 1 as one`))).toEqual([{ one: 1 }]);
  });

  it('fail if a statement is empty, which has no result', async () => {
    await expect(together([rowsOf(sql``), rowsOf(sql`select 1`)])).rejects.toThrow(
      '1 results to 2 statements',
    );
  });

  it('are rolled back after their end if the work beside them fails', async () => {
    const work = inTransaction(money.em(), async (em) => {
      const slow = sql`select pg_sleep(0.1)`;
      await Promise.all([
        runTogether(em, [command(insert('Kyiv')), command(slow)]),
        Promise.reject(new Error('x')),
      ]);
    });
    await expect(work).rejects.toThrow('x');
    expect(await run(money.em(), rowsOf(sql`select from usage_request where request_id = 'Kyiv'`))).toEqual(
      [],
    );
  });

  it('are refused without a transaction', async () => {
    await expect(runTogether(money.em(), [rowsOf(sql`select 1`)])).rejects.toThrow('only in a transaction');
  });
});
