/**
 * Two control planes over one database behave as one: each sees what happens at the other, and replaces it.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addCustomer, addKey, topUp } from '../house.ts';
import { ask } from '../house/traffic.ts';
import { ENDLESS, follow, newChat, openTwoPlanes, REPLY, send, socketOf, untilServed } from './stage.ts';
import type { ReplyEvent, TwoPlanes } from './stage.ts';

const TEST_MS = 120_000;

let planes: TwoPlanes;
beforeAll(async () => {
  planes = await openTwoPlanes();
}, 180_000);
afterAll(() => planes?.close());

interface Applied {
  appliedNodes: number;
  pendingNodes: object[];
}
const APPLIED = 'appliedNodes pendingNodes { id }';

/**
 * The first event of a subscription at the second control plane. Repeats the work at the first one until
 * there is an event, because a subscription does not confirm its start.
 */
async function firstEventThere(subscription: string, work: () => Promise<unknown>): Promise<unknown> {
  const socket = socketOf(planes, planes.secondUrl);
  const results = socket.iterate({ query: subscription });
  let event: unknown;
  const received = results.next().then(({ value }) => {
    event = value;
  });
  for (let attempt = 0; event === undefined && attempt < 20; attempt += 1) {
    await work();
    await Promise.race([received, pause(500)]);
  }
  await results.return?.();
  await socket.dispose();
  return event;
}

/** Starts a streamed answer that does not end by itself. Resolves to its rest once content has arrived. */
async function startStream(url: string, key: string): Promise<{ rest: Promise<string> }> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'budget', stream: true, messages: [{ role: 'user', content: ENDLESS }] }),
  });
  const chunks = response.body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
  let text = '';
  const read = async (isEnough: () => boolean): Promise<string> => {
    while (!isEnough()) {
      const { value, done } = (await chunks?.next().catch(() => undefined)) ?? { done: true };
      if (done) break;
      text += value;
    }
    return text;
  };
  await read(() => text.includes('word'));
  return { rest: read(() => false) };
}

describe('two control planes over one database', () => {
  it('migrate and seed the database once although they start together', async () => {
    const { rows } = await planes.house.database.query<{ twice: number; models: number; admins: number }>(
      `select (select count(*) - count(distinct name) from mikro_orm_migrations)::integer as twice,
        (select count(*) from model)::integer as models,
        (select count(*) from users where role = 'ADMIN')::integer as admins`,
    );
    expect(rows[0]).toEqual({ twice: 0, models: 10, admins: 1 });
  });

  it('accept sessions of each other', async () => {
    const { viewer } = await planes.there.query<{ viewer: { id: string } }>('query { viewer { id } }');
    expect(viewer.id).toBe(planes.customer.userId);
  });

  it('confirm that a key is disabled on a node that is connected to the other', async () => {
    const other = await addCustomer(planes.house, '1');
    await untilServed(planes, other);
    const applied = await other.api.mutate<Applied>('apiKeyDisable', { id: other.keyId }, APPLIED);
    expect(applied).toMatchObject({ appliedNodes: 1, pendingNodes: [] });
    expect((await ask(planes.house.url, other)).status).toBe(403);
  });

  it('confirm that an old secret is refused and its streams cut when its grace time is ended', async () => {
    const old = await addCustomer(planes.house, '1');
    const { api, keyId } = old;
    await api.mutate('apiKeyRotate', { id: keyId, idempotencyKey: 'rotate' }, 'apiKey { id }');
    const { secret } = await api.mutate<{ secret: string }>('apiKeyReveal', { id: keyId }, 'secret');
    await untilServed(planes, { ...old, key: secret });
    await untilServed(planes, old);
    const { rest } = await startStream(planes.house.url, old.key);
    const applied = await api.mutate<Applied>('apiKeyGraceEnd', { id: keyId }, APPLIED);
    expect(applied).toMatchObject({ appliedNodes: 1, pendingNodes: [] });
    expect(await rest).toContain('key_disabled');
    expect((await ask(planes.house.url, old)).status).toBe(401);
    expect((await ask(planes.house.url, { ...old, key: secret })).status).toBe(200);
  });

  it('notify subscribers of each other', async () => {
    const { house, customer } = planes;
    const wallet = await firstEventThere('subscription { walletUpdated { id } }', () =>
      topUp(house, customer.userId, '1'),
    );
    expect(wallet).toMatchObject({ data: { walletUpdated: { id: customer.walletId } } });
    const made: string[] = [];
    const key = await firstEventThere('subscription { apiKeyUpdated { id } }', async () => {
      made.push((await addKey(house, customer)).keyId);
    });
    expect(made).toContain((key as { data: { apiKeyUpdated: { id: string } } }).data.apiKeyUpdated.id);
  });
});

const textOf = (events: ReplyEvent[]): string => events.map(({ text }) => text ?? '').join('');

describe('the Playground over two control planes', () => {
  // Afterwards the node has a lease of the wallet.
  beforeAll(() => untilServed(planes, planes.customer), TEST_MS);

  it('writes a reply at one to a chat of the other, and both can follow it', async () => {
    const { house, secondUrl, customer, there } = planes;
    const chat = await newChat(planes);
    const { reply } = await send(there, chat, 'across');
    const followed = await Promise.all(
      [house.controlUrl, secondUrl].map((url) => follow(planes, { url, id: reply.id })),
    );
    for (const events of followed) {
      expect(events.at(-1)?.message).toEqual({ state: 'COMPLETE', content: REPLY });
      expect(textOf(events)).toBe(REPLY);
    }
    const again = await send(customer.api, chat, 'across');
    expect(again).toMatchObject({ reply: { id: reply.id }, replayed: true });
  });

  it('continues a chat at either control plane, and stops its reply from the other', async () => {
    const { secondUrl, customer, there } = planes;
    const chat = await newChat(planes);
    const one = await send(there, chat, 'there first');
    await follow(planes, { url: secondUrl, id: one.reply.id });
    const { reply } = await send(customer.api, chat, 'then here');
    const onEvent = ({ __typename }: ReplyEvent): void => {
      if (__typename === 'MessageTextDelta')
        void there.mutate('messageStop', { id: reply.id }, 'message { id }');
    };
    const events = await follow(planes, { url: secondUrl, id: reply.id, onEvent });
    expect(events.at(-1)?.message?.state).toBe('STOPPED');
  });

  it('hides replies from other users', async () => {
    const { house, secondUrl, there } = planes;
    const { reply } = await send(there, await newChat(planes), 'mine');
    const other = await addCustomer(house, '1');
    await expect(other.api.mutate('messageStop', { id: reply.id }, 'message { id }')).rejects.toThrow(
      'NOT_FOUND',
    );
    await follow(planes, { url: secondUrl, id: reply.id });
  });
});

describe('a node whose control plane is killed', () => {
  it(
    'connects to the other and receives changes from there',
    async () => {
      await planes.second.kill();
      await untilServed(planes, await addCustomer(planes.house, '1'));
    },
    TEST_MS,
  );
});
