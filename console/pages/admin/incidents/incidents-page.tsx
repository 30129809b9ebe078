/** Incidents and maintenances of the status page, as administrators write them. */
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { EmptyFirst } from '../../../components/notice.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { useTranslation } from '../../../translation.ts';
import type { Incident } from '../../status/documents.ts';
import { IncidentView } from '../../status/incident-view.tsx';
import { Region } from '../region.tsx';
import { useTask } from '../use-task.ts';
import { IncidentsQuery } from './documents.ts';

const load = () => import('./incident-dialogs.tsx');
const NewIncident = lazy(async () => ({ default: (await load()).NewIncident }));
const WriteUpdate = lazy(async () => ({ default: (await load()).WriteUpdate }));
const RemoveIncident = lazy(async () => ({ default: (await load()).RemoveIncident }));

type Task = { kind: 'new' } | { kind: 'update' | 'remove'; incident: Incident };

/** The page. */
export function IncidentsPage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: IncidentsQuery });
  const { task, setTask, close } = useTask<Task>(again);
  const models = data?.catalog.nodes.map(({ name }) => name) ?? [];
  const create = (
    <Button
      variant="primary"
      icon={<Plus size={16} strokeWidth={1.75} aria-hidden="true" />}
      onClick={() => setTask({ kind: 'new' })}
    >
      {t('incidents.new')}
    </Button>
  );
  const sentence = (
    <>
      {t('incidents.sentence')}
      {t('state.gap')}
      <Link to="/status" className="text-accent underline">
        {t('incidents.page')}
      </Link>
    </>
  );
  return (
    <>
      <PageHead title={t('admin.places.incidents')} sentence={sentence} action={create} />
      <Region data={data?.admin?.incidents} error={error} onRetry={again}>
        {(incidents) => <Incidents incidents={incidents} setTask={setTask} />}
      </Region>
      <Suspense>
        {task?.kind === 'new' && <NewIncident models={models} onClose={close} />}
        {task?.kind === 'update' && <WriteUpdate incident={task.incident} onClose={close} />}
        {task?.kind === 'remove' && <RemoveIncident incident={task.incident} onClose={close} />}
      </Suspense>
    </>
  );
}

interface IncidentsProps {
  incidents: readonly Incident[];
  setTask: (task: Task) => void;
}

function Incidents({ incidents, setTask }: IncidentsProps) {
  const { t } = useTranslation();
  if (incidents.length === 0)
    return <EmptyFirst title={t('incidents.none')} sentence={t('incidents.noneSentence')} />;
  return (
    <section aria-label={t('admin.places.incidents')} className="border-t border-line-strong">
      <h2 className="sr-only">{t('admin.places.incidents')}</h2>
      {incidents.map((incident) => (
        <IncidentView
          key={incident.id}
          incident={incident}
          action={
            <div className="flex gap-2">
              <Button size="small" onClick={() => setTask({ kind: 'update', incident })}>
                {t('incidents.update')}
              </Button>
              <Button size="small" onClick={() => setTask({ kind: 'remove', incident })}>
                {t('incidents.removeTask')}
              </Button>
            </div>
          }
        />
      ))}
    </section>
  );
}
