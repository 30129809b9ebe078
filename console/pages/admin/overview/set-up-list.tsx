/** The steps until the gateway can serve requests. */
import { Link, type LinkProps } from '@tanstack/react-router';
import { buttonClass } from '../../../components/button.tsx';
import { useTranslation } from '../../../translation.ts';
import { ChecklistCard } from '../../connect/checklist-card.tsx';
import type { Overview } from './documents.ts';

interface SetUpListProps {
  admin: Overview;
  /** How many models are published. */
  models: number;
}

/** The list; nothing once every step is done. */
export function SetUpList({ admin: { providers, systemHealth }, models }: SetUpListProps) {
  const { t } = useTranslation();
  const upstreams = providers.filter(({ demo, enabled }) => enabled && !demo);
  const isRouted = providers.some(({ routes }) => routes.some(({ enabled }) => enabled));
  const isServing = systemHealth.nodes.some(({ retired, state }) => !retired && state === 'IN_SYNC');
  const to = (place: LinkProps['to']) => (
    <Link to={place} className={buttonClass({})}>
      {t('admin.overview.open')}
    </Link>
  );
  const steps = [
    { id: 'node', words: t('admin.overview.steps.node'), done: isServing, action: to('/admin/nodes') },
    {
      id: 'upstream',
      words: t('admin.overview.steps.upstream'),
      done: upstreams.length > 0,
      action: to('/admin/upstreams'),
    },
    { id: 'route', words: t('admin.overview.steps.route'), done: isRouted, action: to('/admin/upstreams') },
    { id: 'model', words: t('admin.overview.steps.model'), done: models > 0, action: to('/admin/models') },
  ];
  return steps.every(({ done }) => done) ? null : <ChecklistCard steps={steps} />;
}
