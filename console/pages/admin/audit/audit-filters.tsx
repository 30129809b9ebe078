/** The filters of the audit log: object, action and actor, each chosen from what exists. */
import { useNavigate } from '@tanstack/react-router';
import { useQuery } from 'urql';
import { Filter } from '../../../components/menu.tsx';
import type { MenuChoice } from '../../../components/menu-entries.ts';
import { FIRST_PAGE } from '../../../components/search-parameters.ts';
import { type TFunction, useTranslation } from '../../../translation.ts';
import { type Lookup, LookupFilter, nameIn } from '../lookup-filter.tsx';
import type { AdminSearch } from '../search.ts';
import { nameOf } from './audit-item.tsx';
import { actionWords, actorName } from './audit-words.ts';
import { ActionsQuery, ActorsQuery, ChosenActorQuery, ChosenTargetQuery } from './filter-documents.ts';
import { useTargets } from './use-targets.ts';

/** Kinds of actors without an id. Such a kind stands in the address instead of an id. */
const KINDS = ['SYSTEM', 'WEBHOOK'] as const;

/** The conditions of the filter by actor. */
export function actorConditions(actor: string | undefined) {
  if (actor === undefined) return {};
  const kind = KINDS.find((known) => known === actor);
  return kind === undefined ? { actorId: actor } : { actorKinds: [kind] };
}

/** The filters. A change leads to the first page. */
export function AuditFilters({ search }: { search: AdminSearch }) {
  const { t, i18n } = useTranslation();
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
        options={actionOptions(t, data?.admin?.auditActions ?? [], i18n.language)}
        onChange={(action) => set({ action })}
        searched
      />
    </div>
  );
}

/** The actions, sorted by their words. The search finds an action by its code, too. */
function actionOptions(t: TFunction, codes: readonly string[], language: string): MenuChoice[] {
  const options = codes.map((value) => {
    const word = actionWords(t, value);
    return word === undefined ? { value, word: value } : { value, word, detail: value };
  });
  return options.sort((one, other) => one.word.localeCompare(other.word, language));
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
  const variables = { filter: actorConditions(value) };
  const [{ data }] = useQuery({ query: ChosenActorQuery, variables, pause: value === undefined });
  const actor = data?.admin?.auditLog.nodes[0]?.actor;
  return (
    <LookupFilter
      name={t('admin.audit.filters.actor')}
      hint={t('admin.audit.filters.actorHint')}
      label={t('admin.audit.filters.actorLabel')}
      value={value}
      chosen={actor && actorName(t, actor)}
      useLookup={useActors}
      onChange={onChange}
    />
  );
}

function useActors(search: string): Lookup {
  const { t } = useTranslation();
  const [{ data, fetching }] = useQuery({ query: ActorsQuery, variables: { search: nameIn(search) } });
  const actors = data?.admin?.auditActors ?? [];
  const choices = actors.map((actor) => ({ value: actor.id ?? actor.kind, word: actorName(t, actor) }));
  // The service does not know the word for itself in the language of the console.
  const gateway = { value: 'SYSTEM', word: t('admin.audit.actorKinds.SYSTEM') };
  const isNamed = gateway.word.toLowerCase().includes(search.toLowerCase());
  const isMissing = !choices.some(({ value }) => value === gateway.value);
  return { choices: isNamed && isMissing ? [...choices, gateway] : choices, fetching };
}
