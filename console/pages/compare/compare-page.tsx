/** Up to four models side by side. The address names the models. */
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Plus, X } from 'lucide-react';
import { useEffect } from 'react';
import { useQuery } from 'urql';
import { requestIdOf } from '../../client.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { focusContentIfLost } from '../../components/focus.ts';
import { Menu } from '../../components/menu.tsx';
import { Failure, SkeletonRows } from '../../components/notice.tsx';
import { useTitle } from '../../components/page-title.ts';
import { useTranslation } from '../../translation.ts';
import { PublicFrame } from '../shell/public-frame.tsx';
import { type Compared, CompareQuery, ModelNamesQuery } from './documents.ts';
import { type CompareGroup, useCompareGroups } from './rows.tsx';
import { COMPARED_MAX } from './search.ts';

/** The page; it needs no account. */
export function ComparePage() {
  const { t } = useTranslation();
  const { models: names = [] } = useSearch({ from: '/compare' });
  const navigate = useNavigate({ from: '/compare' });
  const [first = '', second = '', third = '', fourth = ''] = names;
  const [{ data, error, fetching }, again] = useQuery({
    query: CompareQuery,
    variables: { first, second, third, fourth },
    pause: names.length === 0,
  });
  useTitle(t('shell.compare'));
  const change = (models: string[]) =>
    void navigate({ search: { models: models.length > 0 ? models : undefined } });
  const found = [data?.first, data?.second, data?.third, data?.fourth].filter(
    (model): model is Compared => model !== undefined && model !== null && names.includes(model.name),
  );
  // A name that the service does not know takes no place.
  const shown = data && !fetching ? found.map(({ name }) => name) : names;
  return (
    <PublicFrame>
      <header className="mb-6">
        <h1 className="text-public">{t('shell.compare')}</h1>
        <p className="mt-1 text-ink-2">{t('compare.sentence')}</p>
      </header>
      <Choice names={shown} onChange={change} />
      {found.length > 0 && (
        <Comparison models={found} onRemove={(name) => change(shown.filter((other) => other !== name))} />
      )}
      {found.length === 0 && names.length > 0 && fetching && <SkeletonRows rows={12} />}
      {found.length === 0 && names.length > 0 && !fetching && !error && <p>{t('compare.unknown')}</p>}
      {!data && error && (
        <Failure
          title={t('pricing.failed')}
          safe={t('pricing.failedSafe')}
          requestId={requestIdOf(error)}
          onRetry={again}
        />
      )}
    </PublicFrame>
  );
}

interface ChoiceProps {
  names: readonly string[];
  onChange: (names: string[]) => void;
}

/** The list from which a model is added; nothing if there are four. */
function Choice({ names, onChange }: ChoiceProps) {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: ModelNamesQuery });
  const isFull = names.length >= COMPARED_MAX;
  // The button goes when the comparison is full.
  useEffect(() => (isFull ? undefined : focusContentIfLost), [isFull]);
  if (isFull) return null;
  const others = (data?.catalog.nodes ?? []).map(({ name }) => name).filter((name) => !names.includes(name));
  const entry = {
    kind: 'choices' as const,
    label: t('compare.add'),
    value: '',
    options: others.map((name) => ({ value: name, word: name })),
    choose: (name: string) => onChange([...names, name]),
    searched: true,
  };
  return (
    <div className="mb-6">
      <Menu
        trigger={
          <Button
            variant={names.length === 0 ? 'primary' : 'neutral'}
            icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
          >
            {t('compare.add')}
          </Button>
        }
        entries={[entry]}
      />
    </div>
  );
}

interface ComparisonProps {
  models: readonly Compared[];
  onRemove: (name: string) => void;
}

/** The table. It scrolls inside its frame if the screen is too narrow for it. */
function Comparison({ models, onRemove }: ComparisonProps) {
  const { t } = useTranslation();
  const groups = useCompareGroups();
  return (
    <div role="region" aria-label={t('shell.compare')} tabIndex={0} className="relative overflow-x-auto">
      <table className="w-full border-collapse text-table">
        <thead>
          <tr className="border-b border-line-strong">
            <td className="w-[180px] min-w-[120px]" />
            {models.map(({ name }) => (
              <th
                key={name}
                scope="col"
                className="w-1/4 min-w-[150px] px-3 py-2 text-left align-top font-normal"
              >
                <div className="flex items-center justify-between gap-2">
                  <Link to="/pricing/$name" params={{ name }} className="hover:underline touch:py-3">
                    <code className="text-body font-semibold [overflow-wrap:anywhere]">{name}</code>
                  </Link>
                  <IconButton label={t('compare.remove', { name })} onClick={() => onRemove(name)}>
                    <X size={16} strokeWidth={1.75} aria-hidden="true" />
                  </IconButton>
                </div>
              </th>
            ))}
          </tr>
        </thead>
        {groups.map((group) => (
          <Group key={group.title} group={group} models={models} />
        ))}
      </table>
    </div>
  );
}

// The names of the rows stay in view when the table scrolls sideways.
const NAME = 'sticky left-0 z-[1] bg-page px-3 py-2 text-left align-top font-normal text-ink-2';

function Group({ group: { title, rows }, models }: { group: CompareGroup; models: readonly Compared[] }) {
  return (
    <tbody>
      <tr>
        <th scope="rowgroup" colSpan={models.length + 1} className="px-3 pt-6 pb-1 text-left text-section">
          {title}
        </th>
      </tr>
      {rows.map(({ id, name, cell }) => (
        <tr key={id} className="border-b border-line">
          <th scope="row" className={NAME}>
            {name}
          </th>
          {models.map((model) => (
            <td key={model.name} className="px-3 py-2 align-top">
              {cell(model)}
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}
