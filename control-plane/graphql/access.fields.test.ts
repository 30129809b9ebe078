/** Every field is listed in access.fields.txt, and no node may act for another node. */
import { readFileSync } from 'node:fs';
import { getNamedType, graphql, isInputObjectType, isObjectType } from 'graphql';
import type { GraphQLField } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestApp } from '../../test/control/app.ts';
import type { TestApp } from '../../test/control/app.ts';
import { tableDigests } from '../../test/control/table-digests.ts';
import { smallestInput } from '../../test/control/smallest-input.ts';
import { addNode } from '../../test/money-fixture.ts';
import { Batches } from '../database/batches.ts';
import { SYSTEM_ACTOR } from './context.ts';
import type { Context } from './context.ts';
import { printedAccess } from '../schema/emit-access.ts';
import { createBus } from '../database/events.ts';
import { newId } from '../database/ids.ts';
import { createSchema } from '../schema/schema.ts';
import { query, sql } from '../database/sql.ts';
import { creditCash } from '../wallet/movements.ts';
import { requestLease } from '../wallet/lease.service.ts';
import { ensureWallet } from '../wallet/wallet.service.ts';
import { POSTGRES_USAGE } from '../usage/usage.reader.ts';

const schema = createSchema(createBus());

it('access.fields.txt lists every field (if not, run `npm run access` and review its additions)', () => {
  expect(printedAccess(schema)).toBe(readFileSync('control-plane/access.fields.txt', 'utf8'));
});

describe('a mutation of a node', () => {
  let test: TestApp;
  let nodes: Record<'mine' | 'other', { nodeId: string; journalId: string }>;
  let walletId: string;
  let leaseId: string;

  beforeAll(async () => {
    test = await startTestApp();
    nodes = { mine: await makeNode(), other: await makeNode() };
    const { id } = (await query<{ id: string }>(em(), sql`select id from users limit 1`))[0] ?? { id: '' };
    walletId = await ensureWallet(em(), id);
    const movement = { walletId, actor: SYSTEM_ACTOR, description: 'x', kind: 'ADJUSTMENT' as const };
    await creditCash(em(), { ...movement, amount: 1_000_000n, reference: 'x' });
    const request = { walletId, keyId: null, requestNo: 1, need: 1_000n, want: 10_000n, waiting: 0n };
    ({ id: leaseId } = await requestLease(em(), { ...nodes.other, ...request }));
  });
  afterAll(() => test.close());

  const em = () => test.orm.em.fork();

  async function makeNode(): Promise<{ nodeId: string; journalId: string }> {
    const [nodeId, journalId] = [newId('nod'), `jnl_${newId('nod')}`];
    await addNode(em(), { nodeId, journalId });
    return { nodeId, journalId };
  }

  const mutations = (() => {
    const type = schema.getType('Mutation');
    if (!isObjectType(type)) throw new Error('There are no mutations.');
    const fields = Object.values(type.getFields()) as GraphQLField<unknown, Context>[];
    return fields.filter((field) => field.extensions['access'] === 'NODE');
  })();

  const namesNode = (field: GraphQLField<unknown, Context>): boolean => {
    const input = field.args[0] && getNamedType(field.args[0].type);
    return isInputObjectType(input) && 'nodeId' in input.getFields();
  };

  /** The error code of the mutation, called by the node `mine`; DONE if it succeeds. */
  async function send(name: string, more: object): Promise<unknown> {
    const type = mutations.find((field) => field.name === name)?.args[0]?.type;
    if (!type) throw new Error(`There is no input of ${name}.`);
    const fork = em();
    const context: Partial<Context> = {
      em: fork,
      viewer: null,
      node: { id: nodes.mine.nodeId, name: 'mine' },
      ip: '192.0.2.1',
      requestId: 'test',
      settings: test.settings,
      batches: new Batches(fork),
      budget: null,
      usage: POSTGRES_USAGE,
    };
    const { data, errors } = await graphql({
      schema,
      source: `mutation ($input: ${String(type)}) { ${name}(input: $input) { userErrors { code } } }`,
      variableValues: { input: { ...(smallestInput(type) as object), ...more } },
      contextValue: context as Context,
    });
    const payload = data?.[name] as { userErrors: { code: string }[] } | undefined;
    return errors?.[0]?.extensions['code'] ?? payload?.userErrors[0]?.code ?? 'DONE';
  }

  it('names the calling node in its input, except nodeRegister', () => {
    expect(mutations.filter((field) => !namesNode(field)).map(({ name }) => name)).toEqual(['nodeRegister']);
  });

  it('is refused if its input names another node, and changes nothing', async () => {
    const before = await tableDigests(em());
    for (const { name } of mutations.filter(namesNode)) {
      expect([name, await send(name, { nodeId: nodes.other.nodeId })]).toEqual([name, 'FORBIDDEN']);
    }
    expect(await tableDigests(em())).toEqual(before);
  });

  it('is refused for the journal or the lease of another node, and changes nothing', async () => {
    const { nodeId } = nodes.mine;
    const { journalId } = nodes.other;
    const before = await tableDigests(em());
    const attempts = [
      ['nodeLeaseClose', { nodeId, journalId, leaseId, count: 0, sum: '0' }],
      ['nodeLeaseClose', { ...nodes.mine, leaseId, count: 0, sum: '0' }],
      ['nodeLeaseRequest', { nodeId, journalId, walletId, requestNo: 1 }],
      ['nodeLeaseRequest', { nodeId, journalId, walletId, requestNo: 2 }],
    ] as const;
    for (const [name, input] of attempts)
      expect([name, await send(name, input)]).toEqual([name, 'NOT_FOUND']);
    expect(await tableDigests(em())).toEqual(before);
  });
});
