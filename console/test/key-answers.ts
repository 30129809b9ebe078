/** Answers of the fake control plane to changes of keys. */
import { type AccountState, sensitive } from './account-answers.ts';
import { makePoolKey, type PoolState } from './pool-answers.ts';
import { makeKey, type SampleKey } from './sample.ts';

type State = AccountState & PoolState;
type Input<Value> = { input: Value };

/** The secret that every reveal answers. */
export const SECRET = `sk-${'Wq8ZrT4nVx02LmKc7HyBfJ5dPsEa91GuXtQo3RiNb6vYhC0k'}`;

/** The mutations of keys. */
export const keyMutations = (state: State) => ({ ...newKeyMutations(state), ...changedKeyMutations(state) });

function find(state: State, id: string): SampleKey {
  const key = state.keys.find((candidate) => candidate.id === id);
  if (!key) throw new Error('no such key');
  return key;
}

function done(apiKey: SampleKey) {
  return { apiKey, userErrors: [], replayed: false };
}

function newKeyMutations(state: State) {
  return {
    apiKeyCreate: ({ input }: Input<{ name: string; group: string; poolId?: string }>) => {
      const pool = state.pools.find(({ id }) => id === input.poolId);
      const more = {
        state: 'DISABLED',
        disabledReason: 'NOT_REVEALED',
        revealedAt: null,
        group: input.group,
        ...(pool && { baseUrl: pool.baseUrl, pool: makePoolKey(pool, 0).pool }),
      };
      state.keys = [
        makeKey(`key_new_${state.keys.length}`, { name: input.name, masked: ['', ''], more }),
        ...state.keys,
      ];
      return done(find(state, `key_new_${state.keys.length - 1}`));
    },
    apiKeyReveal: sensitive(state, ({ input }: Input<{ id: string }>) => {
      const key = find(state, input.id);
      const revealedAt = new Date().toISOString();
      Object.assign(key, {
        state: 'ENABLED',
        disabledReason: null,
        revealedAt,
        prefix: SECRET.slice(0, 7),
        suffix: SECRET.slice(-4),
        ...(key.rotation && { rotation: { ...key.rotation, pendingReveal: false, graceEndsAt: soon() } }),
      });
      return { ...done(key), secret: SECRET, ...ALL_NODES };
    }),
  };
}

/** Every node has applied the change. */
const ALL_NODES = { appliedNodes: 3, pendingNodes: [] };

const soon = () => new Date(Date.now() + 3_600_000).toISOString();

function changedKeyMutations(state: State) {
  return {
    apiKeyGraceEnd: ({ input }: Input<{ id: string }>) => {
      const key = find(state, input.id);
      key.rotation = null;
      return {
        ...done(key),
        appliedNodes: 2,
        pendingNodes: [
          { __typename: 'DataPlaneNode', id: 'nod_1', name: 'us-1', lastSeenAt: '2026-11-20T10:00:00Z' },
        ],
      };
    },
    apiKeyDisable: ({ input }: Input<{ id: string; leaked: boolean }>) => {
      const key = find(state, input.id);
      Object.assign(key, { state: 'DISABLED', disabledReason: input.leaked ? 'LEAKED' : 'OWNER' });
      return { ...done(key), ...ALL_NODES };
    },
    apiKeyUpdate: ({ input }: Input<{ id: string; version: number; name: string }>) => {
      const key = find(state, input.id);
      const stale = { code: 'STALE_VERSION', message: 'Changed.', field: ['version'] };
      if (input.version !== key.version) return { apiKey: null, userErrors: [stale] };
      return done(Object.assign(key, input, { version: key.version + 1 }));
    },
    apiKeyEnable: ({ input }: Input<{ id: string }>) => ({
      ...done(Object.assign(find(state, input.id), { state: 'ENABLED', disabledReason: null })),
      ...ALL_NODES,
    }),
    apiKeyRotate: ({ input }: Input<{ id: string }>) => {
      const rotation = {
        pendingReveal: true,
        previousSuffix: find(state, input.id).suffix,
        graceEndsAt: null,
        previousLastUsedAt: null,
      };
      return done(Object.assign(find(state, input.id), { rotation }));
    },
  };
}
