/** The filters of the audit log: object, action and actor, each chosen from what exists. */
import { useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Filter } from '../../../components/menu.tsx';
import { FIRST_PAGE } from '../../../components/search-parameters.ts';
import { useTranslation } from '../../../translation.ts';
import { type Lookup, LookupFilter, nameIn } from '../lookup-filter.tsx';
import type { AdminSearch } from '../search.ts';
import { nameOf } from './audit-item.tsx';
import { actionWords } from './audit-words.ts';
import { ActionsQuery, ActorsQuery, ChosenActorQuery, ChosenTargetQuery } from './filter-documents.ts';
import { useTargets } from './use-targets.ts';

/** Kinds of actors without an id. Such a kind stands in the address instead of an id. */
const KINDS = ['SYSTEM', 'WEBHOOK'] as const;
/** Suffix of the name of an actor that is not a user. */
type OtherKind = 'ACCESS_TOKEN' | 'NODE' | 'SYSTEM' | 'WEBHOOK';

/** The conditions of the filter by actor. */
export function actorConditions(actor: string | undefined) {
  if (actor === undefined) return {};
  const kind = KINDS.find((known) => known === actor);
  return kind === undefined ? { actorId: actor } : { actorKinds: [kind] };
}

/** The filters. A change leads to the first page. */
export function AuditFilters({ search }: { search: AdminSearch }) {
  const { t } = useTranslation();
  const navigate = useNavigate({ from: '/admin/audit' });
  const [{ data }] = useQuery({ query: ActionsQuery });
  const set = (change: AdminSearch) => void navigate({ search: { ...search, ...FIRST_PAGE, ...change } });
  return (
    <div className="flex flex-wrap items-center gap-2">
      <TargetFilter value={search.search} onChange={(id) => set({ search: id })} />
      <ActorFilter value={search.actor} onChange={(actor) => set({ actor })} />
      <Filter
        name={t('admin.audit.filters.action')}
        value={search.action}
        options={(data?.admin?.auditActions ?? []).map((value) => ({
          value,
          word: actionWords(t, value) ?? value,
        }))}
        onChange={(action) => set({ action })}
        searched
      />
    </div>
  );
}

interface ChosenProps {
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function TargetFilter({ value, onChange }: ChosenProps) {
  const { t } = useTranslation();
  const variables = { id: value ?? '' };
  const [{ data }] = useQuery({ query: ChosenTargetQuery, variables, pause: value === undefined });
  const target = data?.admin?.auditLog.nodes[0]?.target ?? null;
  return (
    <LookupFilter
      name={t('admin.audit.filters.target')}
      hint={t('admin.audit.filters.targetHint')}
      label={t('admin.audit.filters.targetLabel')}
      value={value}
      chosen={nameOf(target)}
      useLookup={useTargets}
      onChange={onChange}
    />
  );
}

function ActorFilter({ value, onChange }: ChosenProps) {
  const { t } = useTranslation();
  const nameOfActor = useActorName();
  const variables = { filter: actorConditions(value) };
  const [{ data }] = useQuery({ query: ChosenActorQuery, variables, pause: value === undefined });
  const actor = data?.admin?.auditLog.nodes[0]?.actor;
  return (
    <LookupFilter
      name={t('admin.audit.filters.actor')}
      hint={t('admin.audit.filters.actorHint')}
      label={t('admin.audit.filters.actorLabel')}
      value={value}
      chosen={actor && nameOfActor(actor)}
      useLookup={useActors}
      onChange={onChange}
    />
  );
}

function useActors(search: string): Lookup {
  const nameOfActor = useActorName();
  const [{ data, fetching }] = useQuery({ query: ActorsQuery, variables: { search: nameIn(search) } });
  const actors = data?.admin?.auditActors ?? [];
  return {
    choices: actors.map((actor) => ({ value: actor.id ?? actor.kind, word: nameOfActor(actor) })),
    fetching,
  };
}

/** The name of an actor. Only users have no kind beside it. */
function useActorName(): (actor: { kind: 'USER' | OtherKind; label: string }) => string {
  const { t } = useTranslation();
  return ({ kind, label }) => (kind === 'USER' ? label : `${label} (${t(`admin.audit.actorKinds.${kind}`)})`);
}
