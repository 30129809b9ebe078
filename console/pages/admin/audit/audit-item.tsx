/** One event of the audit log, with its reason and the changed fields. */
import { Link } from '@tanstack/react-router';
import { clsx } from 'clsx';
import { ListFilter } from 'lucide-react';
import { IconButton } from '../../../components/button.tsx';
import { Stamp } from '../../../components/time.tsx';
import { graphql, type ResultOf } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { actionWords, actorName, typeWord } from './audit-words.ts';
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
    target {
      __typename
      id
      ... on User {
        email
      }
      ... on ApiKey {
        name
      }
      ... on Pool {
        poolName: name
      }
      ... on UpstreamProvider {
        providerName: name
      }
      ... on UpstreamRoute {
        upstreamModel
      }
      ... on DataPlaneNode {
        nodeName: name
      }
      ... on CatalogModel {
        modelName: name
      }
      ... on PolicyVersion {
        policyVersion: version
      }
      ... on TopUp {
        payer: user {
          id
          email
        }
      }
      ... on Wallet {
        owner {
          id
          email
        }
      }
    }
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

/** The name of the target as it is now, if it has one and still exists. */
export function nameOf(target: AuditEvent['target']): string | undefined {
  switch (target?.__typename) {
    case 'User':
      return target.email;
    case 'ApiKey':
      return target.name;
    case 'Pool':
      return target.poolName;
    case 'UpstreamProvider':
      return target.providerName;
    case 'UpstreamRoute':
      return target.upstreamModel;
    case 'DataPlaneNode':
      return target.nodeName;
    case 'CatalogModel':
      return target.modelName;
    case 'PolicyVersion':
      return target.policyVersion;
    case 'TopUp':
      return target.payer?.email;
    case 'Wallet':
      return target.owner?.email;
    default:
      return undefined;
  }
}

/** The name and the id of the target. Users, pools and upstreams have pages. */
function Target({ id, target }: { id: string; target: AuditEvent['target'] }) {
  const name = nameOf(target);
  const look = 'rounded-tag text-accent underline';
  return (
    <>
      {name !== undefined && target?.__typename === 'User' && (
        <Link to="/admin/users/$id" params={{ id }} className={look}>
          {name}
        </Link>
      )}
      {name !== undefined && target?.__typename === 'Pool' && (
        <Link to="/admin/pools/$id" params={{ id }} className={look}>
          {name}
        </Link>
      )}
      {name !== undefined && target?.__typename === 'UpstreamProvider' && (
        <Link to="/admin/upstreams/$id" params={{ id }} className={look}>
          {name}
        </Link>
      )}
      {name !== undefined && !PAGES.has(target?.__typename) && <span className="text-ink">{name}</span>}{' '}
      <code>{id}</code>
    </>
  );
}

/** The action in words, with its code, by which scripts name it. */
function Action({ action }: Pick<AuditEvent, 'action'>) {
  const { t } = useTranslation();
  const words = actionWords(t, action);
  if (words === undefined) return <code className="font-semibold">{action}</code>;
  return (
    <span>
      <span className="font-semibold">{words}</span> <code className="text-ink-3">{action}</code>
    </span>
  );
}

const PAGES: ReadonlySet<string | undefined> = new Set(['User', 'Pool', 'UpstreamProvider']);

interface AuditItemProps {
  event: AuditEvent;
  /** The object to which the list is limited. */
  only?: string | undefined;
  /** Limits the list to this object, or removes the limit. Undefined for a list without filters. */
  onOnly?: (targetId: string | undefined) => void;
}

/** The event as a list item. */
export function AuditItem({ event, only, onOnly }: AuditItemProps) {
  const { t } = useTranslation();
  const { at, action, actor, targetType, targetId, before, after, reason, ip } = event;
  return (
    <li className="border-b border-line py-2.5 text-table">
      <div className="flex flex-wrap items-baseline gap-x-4 gap-y-1">
        <span className="w-28 text-ink-2 max-sm:order-1 max-sm:ml-auto max-sm:w-auto">
          <Stamp at={at} />
        </span>
        <Action action={action} />
        <span className="break-all text-ink-2 max-sm:order-2 max-sm:w-full">
          {typeWord(t, targetType)} {targetId !== null && <Target id={targetId} target={event.target} />}
          {targetId !== null && onOnly && (
            <IconButton
              label={t('admin.audit.only', { name: nameOf(event.target) ?? targetId })}
              aria-pressed={only === targetId}
              onClick={() => onOnly(only === targetId ? undefined : targetId)}
              className={clsx(
                '-my-1.5 ml-1 align-middle',
                only === targetId && 'border-accent! bg-accent-soft',
              )}
            >
              <ListFilter size={16} strokeWidth={1.75} aria-hidden="true" />
            </IconButton>
          )}
        </span>
        <span className="ml-auto text-ink-2 max-sm:order-3 max-sm:ml-0 max-sm:w-full">
          {actorName(t, actor)} {ip !== null && <code className="ml-1 text-ink-3">{ip}</code>}
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
