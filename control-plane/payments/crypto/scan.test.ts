/** Tests of long scans: how far one pass reads, and whose deposits it asks for. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TOKEN } from '../../../test/control/chain.ts';
import type { Disturbance } from '../../../test/control/chain.ts';
import { CONFIRMATIONS, openDeposits } from '../../../test/control/deposits.ts';
import type { DepositHouse } from '../../../test/control/deposits.ts';
import { query, sql } from '../../database/sql.ts';

const USDC = 1_000_000n;
/** Ranges of blocks that one pass reads. */
const RANGES = 50;
/** Recipients in one question. */
const RECIPIENTS = 500;

let house: DepositHouse;
beforeAll(async () => {
  house = await openDeposits();
});
afterAll(() => house.close());
afterEach(() => disturb(null));

const em = () => house.test.orm.em.fork();

function disturb(disturbance: Disturbance | null): void {
  for (const service of [0, 1] as const) house.chain.disturb(service, disturbance);
}

/** Questions for transfers while `work` runs. */
async function questionsOf(work: () => Promise<void>, more: Disturbance | null = null) {
  const questions: { from: number; to: number; recipients: string[] }[] = [];
  disturb(more);
  house.chain.disturb(0, (question, answer) => {
    if (question.method === 'eth_getLogs') {
      const [{ fromBlock, toBlock, topics }] = question.params as [
        { fromBlock: string; toBlock: string; topics: [string, null, string[]] },
      ];
      questions.push({ from: Number(fromBlock), to: Number(toBlock), recipients: topics[2] });
    }
    return more ? more(question, answer) : answer;
  });
  await work();
  return questions;
}

describe('a pass over many new blocks', () => {
  /** A chain of a million blocks without transfers. */
  const long: Disturbance = ({ method, params }, answer) => {
    if (method === 'eth_getLogs') return { result: [] };
    if (method !== 'eth_getBlockByNumber') return answer;
    const number = params[0] === 'latest' ? 1_000_000 : Number(params[0]);
    const hash = `0x${number.toString(16).padStart(64, '0')}`;
    return { result: { number: `0x${number.toString(16)}`, hash, parentHash: hash } };
  };

  it('reads 50 ranges without a gap, and the next pass continues there', async () => {
    await house.customer();
    await query(em(), sql`update crypto_chain set scan_size = 500`);
    const first = await questionsOf(() => house.watch(), long);
    expect(first).toHaveLength(RANGES);
    expect(first[0]?.from).toBe(0);
    for (const [at, { to }] of first.entries()) {
      const next = first[at + 1];
      if (next) expect(next.from).toBeLessThanOrEqual(to + 1);
      if (next) expect(next.to).toBeGreaterThan(to);
    }
    const end = first.at(-1)?.to ?? 0;
    expect(await house.state()).toMatchObject({ cursor: end, scanSize: 2000, trouble: null });
    const second = await questionsOf(() => house.watch(), long);
    expect(second).toHaveLength(RANGES);
    expect(second[0]?.from).toBeLessThanOrEqual(end + 1);
    expect(second[0]?.to).toBeGreaterThan(end);
    expect(second[0]?.from).toBeGreaterThan(first.at(-1)?.from ?? 0);
  });

  it('starts again when the stored blocks are of another chain', async () => {
    const all = await questionsOf(() => house.watch());
    expect(all[0]?.from).toBe(0);
    expect(all.at(-1)?.to).toBe(await house.chain.head());
    expect(await house.state()).toMatchObject({ cursor: await house.chain.head(), trouble: null });
  });

  it('leaves the size of the requested ranges unchanged when fewer blocks are left', async () => {
    await house.chain.mine(3);
    await query(em(), sql`update crypto_chain set scan_size = 64`);
    await house.watch();
    expect((await house.state()).scanSize).toBe(64);
  });
});

describe('a chain', () => {
  it('is read again if it becomes shorter during a pass, without the removed blocks', async () => {
    await query(em(), sql`update crypto_chain set cursor = null, scan_size = 1`);
    await query(em(), sql`delete from crypto_block`);
    disturb(({ method, params }, answer) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x1' ? { result: null } : answer,
    );
    await house.watch();
    expect(await house.state()).toMatchObject({ trouble: 'DISAGREEMENT', cursor: 0 });
    const detail = await query(em(), sql`select trouble_detail as text from crypto_chain`);
    expect(detail).toEqual([{ text: 'The chain ended before block 1.' }]);
    disturb(null);
    await house.watch();
    expect(await house.state()).toMatchObject({ trouble: null, cursor: await house.chain.head() });
  });

  it('is read without a request for transfers if it is shorter than its first block', async () => {
    await query(em(), sql`update crypto_chain set start_block = 100000, cursor = null`);
    await query(em(), sql`delete from crypto_block`);
    expect(await questionsOf(() => house.watch())).toEqual([]);
    expect(await house.state()).toMatchObject({ trouble: null, cursor: null });
    await query(em(), sql`update crypto_chain set start_block = 0`);
  });

  it('is read without a request for transfers if it has no tokens', async () => {
    await query(em(), sql`delete from deposit_address`);
    await query(em(), sql`delete from crypto_token`);
    expect(await questionsOf(() => house.watch())).toEqual([]);
    expect(await house.state()).toMatchObject({ trouble: null, cursor: await house.chain.head() });
    await house.setToken({ contract: TOKEN, symbol: 'USDC', minimum: '1' });
  });
});

describe('addresses', () => {
  it('are all watched, each in one request, also beyond the 500 of one request', async () => {
    const last = await house.customer();
    await query(
      em(),
      sql`insert into users (id, email) select 'usr_' || n, 'many' || n || '@example.com'
        from generate_series(1, 600) n`,
    );
    await query(
      em(),
      sql`insert into crypto_address (address, user_id, key_id, index)
        select '0x' || lpad(to_hex(n), 40, '0'), 'usr_' || n, (select id from crypto_key limit 1), 100000 + n
        from generate_series(1, 600) n`,
    );
    await house.chain.transfer(`0x${'1'.padStart(40, '0')}`, 5n * USDC);
    await house.chain.transfer(last.address, 6n * USDC);
    const asked = (await questionsOf(() => house.watch())).map(({ recipients }) => recipients);
    const known = await query<{ topic: string }>(
      em(),
      sql`select '0x' || lpad(substr(address, 3), 64, '0') as topic from crypto_address order by address`,
    );
    expect(asked.map(({ length }) => length)).toEqual([RECIPIENTS, known.length - RECIPIENTS]);
    expect(asked.flat()).toEqual(known.map(({ topic }) => topic));
    await house.chain.mine(CONFIRMATIONS - 1);
    await house.watch();
    expect(await last.cash()).toBe('6.00');
    const credited = sql`select credited::text from top_up where user_id = 'usr_1' and state = 'CREDITED'`;
    expect(await query(em(), credited)).toEqual([{ credited: '5000000' }]);
  });
});
