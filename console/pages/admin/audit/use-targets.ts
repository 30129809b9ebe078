/** Finds objects of the audit log by a part of their name. */
import { useQuery } from 'urql';
import { useTranslation } from '../../../translation.ts';
import { OBJECT_ID } from '../../object-id.ts';
import { type Lookup, type LookupChoice, nameIn } from '../lookup-filter.tsx';
import { TargetsQuery } from './filter-documents.ts';

/** All states, so that drafts and retired models are found, too. */
const STATES = ['DRAFT', 'PUBLISHED', 'DEPRECATED', 'RETIRED'] as const;

/** Users, wallets, keys, pools, upstreams, nodes and models. An id finds its object, also a deleted one. */
export function useTargets(text: string): Lookup {
  const { t } = useTranslation();
  const search = nameIn(text);
  const pause = search === '';
  const [{ data, fetching }] = useQuery({
    query: TargetsQuery,
    variables: { search, states: [...STATES] },
    pause,
  });
  if (pause || !data?.admin) return { choices: [], fetching };
  const { users, apiKeys, pools, providers, dataPlaneNodes } = data.admin;
  const matching = (named: readonly { id: string; name: string }[]) =>
    named.filter(({ name }) => name.toLowerCase().includes(search.toLowerCase()));
  const choice = (kind: Kind, { id, name }: { id: string; name: string }): LookupChoice => ({
    value: id,
    word: `${name} (${t(`admin.audit.targets.${kind}`)})`,
  });
  const choices = [
    ...users.nodes.map(({ id, email }) => choice('user', { id, name: email })),
    ...users.nodes.map(({ wallet, email }) => choice('wallet', { id: wallet.id, name: email })),
    ...apiKeys.nodes.map(({ id, name, suffix }) =>
      choice('key', { id, name: suffix === null ? name : `${name} …${suffix}` }),
    ),
    ...pools.nodes.map(({ id, name, subdomain }) => choice('pool', { id, name: `${name}, ${subdomain}` })),
    ...matching(providers).map((provider) => choice('upstream', provider)),
    ...matching(dataPlaneNodes).map((node) => choice('node', node)),
    ...data.catalog.nodes.map((model) => choice('model', model)),
  ];
  return {
    choices: OBJECT_ID.test(search) ? [{ value: search, word: search }, ...choices] : choices,
    fetching,
  };
}

type Kind = 'user' | 'wallet' | 'key' | 'pool' | 'upstream' | 'node' | 'model';
