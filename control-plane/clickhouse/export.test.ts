/** Tests of the export and of the fallback without an engine: a small HTTP server stands for ClickHouse. */
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openMoney, reported } from '../../test/money-fixture.ts';
import type { Money } from '../../test/money-fixture.ts';
import { query, queryOne, sql } from '../database/sql.ts';
import { SYSTEM_ACTOR } from '../graphql/context.ts';
import { settle } from '../usage/settlement.service.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';
import { prepareRestored } from '../wallet/after-restore.ts';
import { startExporter } from './exporter.ts';
import { ClickHouseUsage } from './reader.ts';
import { readState, stopAbandonedExport } from './state.ts';
import { ClickHouseStore } from './store.ts';

/** Stands for ClickHouse: it keeps request ids by table, and answers questions as the test says. */
class Receiver {
  readonly tables = new Map<string, string[]>();
  /** The answer to a question; undefined leaves it without an answer. */
  answer: ((query: string) => { status: number; body: string } | undefined) | null = null;
  asked = 0;
  isAway = false;
  #server: Server | undefined;

  async open(): Promise<string> {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const result = this.#take(
          new URL(request.url ?? '', 'http://test'),
          Buffer.concat(chunks).toString(),
        );
        if (result) response.writeHead(result.status).end(result.body);
      });
    });
    await new Promise<void>((resolve) => void this.#server?.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  }

  close(): Promise<void> {
    this.#server?.closeAllConnections();
    return new Promise((resolve) => void this.#server?.close(() => resolve()));
  }

  #take(url: URL, body: string): { status: number; body: string } | undefined {
    if (this.isAway) return { status: 503, body: 'away' };
    const text = url.searchParams.get('query') ?? body;
    const [, created] = /^create table if not exists (\w+)/.exec(text) ?? [];
    const [, filled] = /^insert into (\w+)/.exec(text) ?? [];
    const [, dropped] = /^drop table if exists (\w+)/.exec(text) ?? [];
    if (created) this.tables.set(created, []);
    else if (dropped) this.tables.delete(dropped);
    else if (filled) {
      if (!this.tables.has(filled)) return { status: 404, body: 'Code: 60' };
      const ids = body
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as { request_id: string }).request_id);
      this.tables.get(filled)?.push(...ids);
    } else if (text.includes('from system.tables'))
      return rowsOf([{ found: this.tables.has(url.searchParams.get('param_p0') ?? '') ? '1' : '0' }]);
    else if (text.startsWith('select')) {
      this.asked += 1;
      return this.answer ? this.answer(text) : rowsOf([]);
    }
    return { status: 200, body: '' };
  }
}

const rowsOf = (data: object[]) => ({ status: 200, body: JSON.stringify({ data, rows: data.length }) });

let money: Money;
let receiver: Receiver;
let store: ClickHouseStore;
let owner: { walletId: string; userId: string };
let nodeId: string;

beforeAll(async () => {
  money = await openMoney();
  owner = await money.wallet({});
  ({ nodeId } = await money.node());
});
afterAll(() => money.close());
beforeEach(async () => {
  receiver = new Receiver();
  store = new ClickHouseStore(await receiver.open(), 300);
  await query(money.em(), sql`delete from usage_export`);
  await query(money.em(), sql`delete from usage_outbox`);
  return async () => {
    await store.close();
    await receiver.close();
  };
});

/** Settles requests. Those of another model update other rows of sums, so that they need not wait. */
const add = async (count: number, em = money.em(), modelName = 'swift'): Promise<string[]> => {
  const walletId = modelName === 'swift' ? owner.walletId : (await money.wallet({})).walletId;
  const free = { journalId: null, leaseId: null, seq: null, cost: 0n, walletId, modelName, keyId: modelName };
  const records = Array.from({ length: count }, () => reported(free));
  await settle(em, { node: { ...SYSTEM_ACTOR, kind: 'NODE', id: nodeId }, records });
  return records.map(({ requestId }) => requestId);
};

const exportDue = async (): Promise<void> => {
  const exporter = startExporter({ em: money.em, store });
  try {
    await exporter.exportDue();
  } finally {
    await exporter.stop();
  }
};

/** Exports until nothing is left. The copy waits for open transactions of all databases of the server. */
const exportAll = async (): Promise<void> => {
  const isDone = async (): Promise<boolean> => {
    await exportDue();
    return (await readState(money.em()))?.isComplete === true && (await waiting()) === 0;
  };
  await expect.poll(isDone, { timeout: 15_000 }).toBe(true);
};

const stored = (): ReadonlySet<string> => new Set([...receiver.tables.values()].flat());
const waiting = async (): Promise<number> =>
  (await queryOne<{ count: number }>(money.em(), sql`select count(*)::integer as count from usage_outbox`))
    ?.count ?? 0;

describe('the export', () => {
  it('copies the log, then every settled request, and empties its outbox', async () => {
    const before = await add(3);
    await exportAll();
    expect(await readState(money.em())).toMatchObject({ isActive: true, isComplete: true });
    const after = await add(2);
    expect(await waiting()).toBe(1);
    await exportAll();
    expect(await waiting()).toBe(0);
    expect([...stored()]).toEqual(expect.arrayContaining([...before, ...after]));
  });

  it('misses no request whose transaction began earlier and commits later than others', async () => {
    await exportAll();
    let late: string[] = [];
    const early = await money.orm.em.fork().transactional(async (em) => {
      late = await add(1, em, 'late');
      const others = await add(2);
      await exportDue();
      expect(stored().has(late[0] ?? '')).toBe(false);
      return others;
    });
    await exportAll();
    expect([...stored()]).toEqual(expect.arrayContaining([...early, ...late]));
  });

  it('copies the log only after transactions ended that began before the outbox was filled', async () => {
    await add(1);
    let late: string[] = [];
    await money.orm.em.fork().transactional(async (em) => {
      late = await add(1, em, 'late');
      await exportDue();
      expect(await readState(money.em())).toMatchObject({ isComplete: false });
    });
    await exportAll();
    expect(await readState(money.em())).toMatchObject({ isComplete: true });
    expect(stored().has(late[0] ?? '')).toBe(true);
  });

  it('begins anew if its start was cut short', async () => {
    await exportAll();
    const before = await readState(money.em());
    await query(
      money.em(),
      sql`update usage_export set is_complete = false, activated_xid = '18446744073709551615'::xid8`,
    );
    await exportAll();
    expect((await readState(money.em()))?.table).not.toBe(before?.table);
  });

  it('keeps requests in the outbox while ClickHouse is away', async () => {
    await exportAll();
    receiver.isAway = true;
    const ids = await add(2);
    await expect(exportDue()).rejects.toThrow();
    expect(await waiting()).toBe(1);
    receiver.isAway = false;
    await exportAll();
    expect([...stored()]).toEqual(expect.arrayContaining(ids));
  });

  it('fills a new table after ClickHouse lost its tables', async () => {
    const ids = await add(2);
    await exportAll();
    receiver.tables.clear();
    await exportAll();
    expect([...stored()]).toEqual(expect.arrayContaining(ids));
  });

  it('fills a new table after the command for a restored database', async () => {
    await exportAll();
    const before = await readState(money.em());
    await prepareRestored(money.em());
    await exportAll();
    const after = await readState(money.em());
    expect(after).toMatchObject({ isActive: true, isComplete: true });
    expect(after?.table).not.toBe(before?.table);
  });

  it('stops if nobody read the outbox for days, and starts again with the whole log', async () => {
    await exportAll();
    const ids = await add(1);
    await query(money.em(), sql`update usage_outbox set written_at = now() - interval '4 days'`);
    expect(await stopAbandonedExport(money.em())).toBe(true);
    expect(await waiting()).toBe(0);
    await add(1);
    expect(await waiting()).toBe(0);
    await exportAll();
    expect([...stored()]).toEqual(expect.arrayContaining(ids));
  });

  it('is done by one instance at a time', async () => {
    const first = startExporter({ em: money.em, store });
    const second = startExporter({ em: money.em, store });
    await first.exportDue();
    await add(1);
    await second.exportDue();
    expect(await waiting()).toBe(1);
    await first.stop();
    const left = async (): Promise<number> => {
      await second.exportDue();
      return waiting();
    };
    await expect.poll(left, { timeout: 15_000 }).toBe(0);
    await second.stop();
  });
});

describe('pages', () => {
  const answersOfPostgres = async (read: ClickHouseUsage): Promise<void> => {
    const em = money.em();
    const conditions = { userId: owner.userId };
    const page = { limit: 5 };
    expect(await read.page(em, conditions, page)).toEqual(await POSTGRES_USAGE.page(em, conditions, page));
    expect(await read.count(em, conditions)).toBe(await POSTGRES_USAGE.count(em, conditions));
  };

  it.each([
    ['refuses', () => ({ status: 500, body: 'Code: 241' })],
    ['never answers', () => undefined],
    ['answers without JSON', () => ({ status: 200, body: '<html>' })],
    ['answers with a part', () => ({ status: 200, body: '{"data": [], "rows": 5}' })],
    ['names unknown requests', () => rowsOf([{ request_id: 'x', exact_at: '2026-01-01 00:00:00.000000' }])],
    ['answers with other columns', () => rowsOf([{ other: 1 }])],
  ])('come from PostgreSQL if ClickHouse %s', async (_, answer) => {
    await add(3);
    await exportAll();
    receiver.answer = answer;
    receiver.asked = 0;
    await answersOfPostgres(new ClickHouseUsage(store));
    expect(receiver.asked).toBeGreaterThan(0);
  });

  it('do not ask ClickHouse for some seconds after a failure', async () => {
    await exportAll();
    receiver.answer = () => ({ status: 500, body: '' });
    receiver.asked = 0;
    let now = 0;
    const read = new ClickHouseUsage(store, () => now);
    await read.count(money.em(), {});
    await read.count(money.em(), {});
    expect(receiver.asked).toBe(1);
    now = 16_000;
    await read.count(money.em(), {});
    expect(receiver.asked).toBe(2);
  });

  it('show requests that were settled since the last export, from PostgreSQL', async () => {
    await exportAll();
    const [newest = ''] = await add(1);
    receiver.answer = () => rowsOf([]);
    const rows = await new ClickHouseUsage(store).page(money.em(), { userId: owner.userId }, { limit: 1 });
    expect(rows.map(({ entry }) => entry.requestId)).toEqual([newest]);
  });

  it('show no request of another user, whatever ClickHouse answers', async () => {
    const [id = ''] = await add(1);
    await exportAll();
    const at = await queryOne<{ at: string }>(
      money.em(),
      sql`select to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as at from usage_entry
        where request_id = ${id}`,
    );
    receiver.answer = () => rowsOf([{ request_id: id, exact_at: at?.at }]);
    const other = await money.wallet({});
    expect(await new ClickHouseUsage(store).page(money.em(), { userId: other.userId }, { limit: 5 })).toEqual(
      [],
    );
  });
});
