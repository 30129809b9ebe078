/** One event of the audit log, with its reason and the changed fields. */
import { Stamp } from '../../../components/time.tsx';
import { graphql, type ResultOf } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { ChangedValues } from './changed-values.tsx';

export const AuditFields = graphql(`
  fragment AuditFields on AuditEvent {
    id
    at
    action
    actor {
      kind
      label
    }
    targetType
    targetId
    before
    after
    reason
    ip
    requestId
    hash
    prevHash
  }
`);

type AuditEvent = ResultOf<typeof AuditFields>;

/** The event as a list item. */
export function AuditItem({ event }: { event: AuditEvent }) {
  const { t } = useTranslation();
  const { at, action, actor, targetType, targetId, before, after, reason, ip } = event;
  return (
    <li className="border-b border-line py-2.5 text-table">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="w-28 text-ink-2 max-sm:order-1 max-sm:ml-auto max-sm:w-auto">
          <Stamp at={at} />
        </span>
        <code className="font-semibold">{action}</code>
        <span className="break-all text-ink-2 max-sm:order-2 max-sm:w-full">
          {targetType} {targetId !== null && <code>{targetId}</code>}
        </span>
        <span className="ml-auto text-ink-2 max-sm:order-3 max-sm:ml-0 max-sm:w-full">
          {actor.label} {ip !== null && <code className="text-ink-3">{ip}</code>}
        </span>
      </div>
      <div className="mt-1 sm:ml-32">
        {reason !== null && <span>{reason}</span>}
        <details>
          <summary className="w-fit text-accent touch:py-3">{t('admin.audit.details')}</summary>
          <ChangedValues before={before} after={after} />
        </details>
      </div>
    </li>
  );
}
