/** A mutation that requires a proof of identity always ends. */
import { Client, CombinedError, type Exchange, gql } from 'urql';
import { map, pipe } from 'wonka';
import { describe, expect, it } from 'vitest';
import { createProof } from './proof.ts';

const CHANGE = gql`
  mutation Change {
    change
  }
`;

/** A client whose mutations are refused until `proven` is set, and the pending proof of the client. */
function createScene() {
  const proof = createProof();
  const state = { proven: false, sent: 0 };
  const refused = () =>
    new CombinedError({ graphQLErrors: [{ message: 'Prove it.', extensions: { code: 'REAUTH_REQUIRED' } }] });
  const service: Exchange = () => (operations) =>
    pipe(
      operations,
      map((operation) => {
        state.sent += 1;
        const answer = state.proven ? { data: { change: true } } : { error: refused() };
        return { operation, stale: false, hasNext: false, ...answer };
      }),
    );
  const client = new Client({
    url: '/graphql',
    exchanges: [proof.exchange, service],
    preferGetMethod: false,
  });
  const change = () => client.mutation(CHANGE, {}).toPromise();
  return { ...proof, state, change };
}

describe('a mutation that requires a proof of identity', () => {
  it('is sent again after the proof', async () => {
    const { attach, asked, state, change } = createScene();
    attach();
    const changes = [change(), change()];
    await expect.poll(() => asked.get()).toBeDefined();
    state.proven = true;
    asked.get()?.settle(true);
    for (const { data } of await Promise.all(changes)) expect(data).toEqual({ change: true });
    expect(asked.get()).toBeUndefined();
  });

  it('returns the refusal if the user closes the dialog', async () => {
    const { attach, asked, state, change } = createScene();
    attach();
    const changed = change();
    await expect.poll(() => asked.get()).toBeDefined();
    asked.get()?.settle(false);
    expect((await changed).error?.graphQLErrors[0]?.extensions['code']).toBe('REAUTH_REQUIRED');
    expect(state.sent).toBe(1);
  });

  it('returns the refusal at once if the page has no dialog', async () => {
    const { asked, change } = createScene();
    expect((await change()).error).toBeDefined();
    expect(asked.get()).toBeUndefined();
  });

  it('returns the refusal if the dialog goes away with its page', async () => {
    const { attach, asked, change } = createScene();
    const detach = attach();
    const changed = change();
    await expect.poll(() => asked.get()).toBeDefined();
    detach();
    expect((await changed).error).toBeDefined();
    expect(asked.get()).toBeUndefined();
  });

  it('keeps waiting if the dialog of another frame takes over', async () => {
    const { attach, asked, state, change } = createScene();
    const detach = attach();
    const changed = change();
    await expect.poll(() => asked.get()).toBeDefined();
    detach();
    attach();
    await Promise.resolve();
    state.proven = true;
    asked.get()?.settle(true);
    expect((await changed).data).toEqual({ change: true });
  });
});
