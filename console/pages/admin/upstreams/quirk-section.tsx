/** The quirks of an upstream and of its routes, as one table. */
import { Pencil } from 'lucide-react';
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Provider } from './documents.ts';
import type { Quirk } from './quirk-documents.ts';

interface Row {
  id: string;
  /** The model of the route; undefined for all models. */
  model: string | undefined;
  quirk: Quirk;
}

/** The section. */
export function QuirkSection({ provider, onEdit }: { provider: Provider; onEdit: () => void }) {
  const { t } = useTranslation();
  const rows = rowsOf(provider);
  const scope = ({ model }: Row) => model ?? t('admin.quirks.allModels');
  return (
    <section className="mt-10">
      <div className="mb-2 flex min-h-8 items-center gap-3">
        <div className="flex min-w-0 flex-1 flex-wrap items-baseline gap-x-3">
          <h2 className="text-section">{t('admin.quirks.title')}</h2>
          <span className="text-table text-ink-3">
            {rows.length === 0 ? t('admin.quirks.none') : t('admin.quirks.note')}
          </span>
        </div>
        <Button icon={<Pencil size={16} strokeWidth={1.75} aria-hidden="true" />} onClick={onEdit}>
          {t('admin.quirks.edit')}
        </Button>
      </div>
      {rows.length > 0 && (
        <DataTable
          label={t('admin.quirks.title')}
          rows={rows}
          idOf={({ id }) => id}
          columns={[
            { id: 'scope', header: t('admin.quirks.appliesTo'), cell: ({ row }) => scope(row.original) },
            {
              id: 'kind',
              header: t('admin.quirks.kind'),
              cell: ({ row }) => t(`admin.quirks.kinds.${row.original.quirk.kind}`),
            },
            {
              id: 'effect',
              header: t('admin.quirks.effect'),
              cell: ({ row }) => <code className="break-all">{effectOf(row.original.quirk)}</code>,
            },
          ]}
          card={(row) => (
            <div className="flex flex-col gap-1 text-table">
              <span className="font-[550]">{t(`admin.quirks.kinds.${row.quirk.kind}`)}</span>
              <code className="break-all">{effectOf(row.quirk)}</code>
              <span className="text-ink-3">{scope(row)}</span>
            </div>
          )}
        />
      )}
    </section>
  );
}

function rowsOf({ quirks, routes }: Provider): Row[] {
  const own = quirks.map((quirk, index) => ({ id: `own ${index}`, model: undefined, quirk }));
  const ofRoutes = routes.flatMap((route) =>
    route.quirks.map((quirk, index) => ({ id: `${route.id} ${index}`, model: route.model.name, quirk })),
  );
  return [...own, ...ofRoutes];
}

/** The row in signs: the member, and what becomes of it. */
function effectOf({ kind, member, other, value, min, max }: Quirk): string {
  switch (kind) {
    case 'RENAME':
      return `${member} → ${other}`;
    case 'CLAMP':
      return `${min ?? '−∞'} ≤ ${member} ≤ ${max ?? '∞'}`;
    case 'REPLACE':
      return `${member}: ${other} → ${value}`;
    case 'SET':
    case 'REASONING_ON':
    case 'REASONING_OFF':
      return `${member}: ${value}`;
    case 'TOOL_NAMES':
      return `a–z A–Z 0–9 ${value ?? ''} ≤ ${max}`;
    default:
      return member ?? other ?? '—';
  }
}
