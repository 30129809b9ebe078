/** Billing groups and their ratios, which multiply the prices of requests. */
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { FACT } from '../../../components/table-types.ts';
import { Day } from '../../../components/time.tsx';
import { useTranslation } from '../../../translation.ts';
import { type GroupRatio, GroupsQuery } from '../models/documents.ts';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';

const RatioDialog = lazy(async () => ({ default: (await import('./ratio-dialog.tsx')).RatioDialog }));

/** The page. */
export function GroupsPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: GroupsQuery });
  const { task: edited, setTask: edit, close } = useTask<GroupRatio>(again);
  return (
    <>
      <PageHead title={t('admin.places.groups')} sentence={t('admin.groups.sentence')} />
      <Region data={data?.groupRatios} error={error} onRetry={again}>
        {(groups) => <GroupTable groups={groups} onEdit={edit} />}
      </Region>
      <Suspense>{edited && <RatioDialog group={edited} onClose={close} />}</Suspense>
    </>
  );
}

interface GroupTableProps {
  groups: readonly GroupRatio[];
  onEdit: (group: GroupRatio) => void;
}

function GroupTable({ groups, onEdit }: GroupTableProps) {
  const { t } = useTranslation();
  const edit = (group: GroupRatio) => (
    <Button
      size="small"
      aria-label={t('admin.editTitle', { name: t(`groups.${group.group}`) })}
      onClick={() => {
        onEdit(group);
      }}
    >
      {t('admin.edit')}
    </Button>
  );
  return (
    <DataTable
      label={t('admin.places.groups')}
      rows={groups}
      idOf={({ group }) => group}
      columns={[
        { id: 'group', header: t('admin.group'), cell: ({ row }) => t(`groups.${row.original.group}`) },
        {
          id: 'ratio',
          header: t('admin.groups.ratio'),
          meta: { right: true },
          cell: ({ row }) => `×${row.original.ratio}`,
        },
        {
          id: 'since',
          header: t('admin.groups.since'),
          meta: FACT,
          cell: ({ row }) => <Day at={row.original.updatedAt} />,
        },
        {
          id: 'edit',
          header: t('admin.actions'),
          meta: { silent: true, right: true },
          cell: ({ row }) => edit(row.original),
        },
      ]}
      card={(group) => (
        <div className="flex items-center justify-between gap-3">
          <span className="flex-1 font-[550]">{t(`groups.${group.group}`)}</span>
          <span>×{group.ratio}</span>
          {edit(group)}
        </div>
      )}
    />
  );
}
