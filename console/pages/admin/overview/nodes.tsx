/** The nodes in use, with their state and load. */
import { Link } from '@tanstack/react-router';
import { LeaderList, LeaderRow } from '../../../components/leader-row.tsx';
import { useTranslation } from '../../../translation.ts';
import { NodeState } from '../nodes/node-state.tsx';
import type { Overview } from './documents.ts';

interface NodesProps {
  nodes: Overview['systemHealth']['nodes'];
}

/** The list. */
export function Nodes({ nodes }: NodesProps) {
  const { t, i18n } = useTranslation();
  const number = new Intl.NumberFormat(i18n.language);
  const used = nodes.filter(({ retired }) => !retired);
  return (
    <section className="min-w-0">
      <h2 className="mb-2 text-section">
        <Link to="/admin/nodes" className="rounded-tag text-accent underline">
          {t('admin.places.nodes')}
        </Link>
      </h2>
      {used.length === 0 && <p className="text-ink-2">{t('state.none')}</p>}
      <LeaderList>
        {used.map((node) => (
          <LeaderRow
            key={node.id}
            name={<span className="[overflow-wrap:anywhere]">{node.name}</span>}
            note={t('admin.overview.load', { rps: node.rps, inflight: number.format(node.inflight) })}
          >
            <NodeState node={node} />
          </LeaderRow>
        ))}
      </LeaderList>
    </section>
  );
}
