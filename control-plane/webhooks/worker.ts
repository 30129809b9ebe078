/**
 * The worker of webhooks sends the deliveries of the outbox. Each is sent by one instance of the control
 * plane, and repeated with growing pauses until the receiver answers with a status of 200 to 299. If a
 * process dies after sending, the delivery is sent again: receivers get each event at least once.
 */
import type { EntityManager } from '@mikro-orm/postgresql';
import { Counter } from 'prom-client';
import { registry } from '../process/metrics.ts';
import type { Settings } from '../process/settings.ts';
import { decryptSecret } from '../upstreams/stored-secrets.ts';
import { finish, reserveNext } from './delivery.rows.ts';
import type { ReservedDelivery } from './delivery.rows.ts';
import { secretLocation } from './endpoint.secrets.ts';
import { WebhookConnections } from './post.ts';
import { signedHeaders } from './signature.ts';

const POLL_MS = 1000;
/** Deliveries under way at once in one process. Each owner has one. */
const UNDER_WAY_MAX = 32;

const attempts = new Counter({
  name: 'gateway_webhook_attempts_total',
  help: 'Attempts to deliver webhooks by result: delivered, address, connection, timeout or status.',
  labelNames: ['result'],
  registers: [registry],
});

interface WorkerParts {
  /** A new database session. */
  em(): EntityManager;
  settings: Pick<Settings, 'secretKey' | 'allowPrivateUpstreams'>;
  log?: ((line: Record<string, unknown>) => void) | undefined;
}

interface WebhookWorker {
  /** Sends what is due now and what becomes due meanwhile, and returns when nothing is due. */
  deliverDue(): Promise<void>;
  /** Stops the timer and waits for the deliveries under way. */
  stop(): Promise<void>;
}

/** Starts looking for due deliveries every second. */
export function startWebhooks(parts: WorkerParts): WebhookWorker {
  const connections = new WebhookConnections();
  let round: Promise<void> | undefined;
  let isStopping = false;
  const deliverDue = (): Promise<void> => {
    round ??= deliverAll(parts, connections, () => isStopping).finally(() => {
      round = undefined;
    });
    return round;
  };
  const timer = setInterval(() => {
    deliverDue().catch((error: unknown) => {
      const message = 'A round of webhooks failed. The next round starts in a second.';
      parts.log?.({ level: 'warn', message, reason: error instanceof Error ? error.message : String(error) });
    });
  }, POLL_MS);
  return {
    deliverDue,
    stop: async () => {
      isStopping = true;
      clearInterval(timer);
      await connections.close();
      await round?.catch(() => undefined);
    },
  };
}

/** Keeps up to UNDER_WAY_MAX deliveries under way until none is due. Rejects with the last failure. */
async function deliverAll(
  parts: WorkerParts,
  connections: WebhookConnections,
  isStopping: () => boolean,
): Promise<void> {
  const underWay = new Set<Promise<void>>();
  const failures: unknown[] = [];
  while (!isStopping()) {
    const next = underWay.size < UNDER_WAY_MAX ? await reserveNext(parts.em()) : undefined;
    if (next) {
      const work: Promise<void> = deliver(parts, connections, next)
        .catch((error: unknown) => void failures.push(error))
        .finally(() => underWay.delete(work));
      underWay.add(work);
    } else if (underWay.size > 0) await Promise.race(underWay);
    else break;
  }
  await Promise.all(underWay);
  if (failures.length > 0) throw failures.at(-1);
}

async function deliver(
  { em, settings, log }: WorkerParts,
  connections: WebhookConnections,
  delivery: ReservedDelivery,
): Promise<void> {
  const { id, endpointId, eventId, payload, url, ownerIsAdmin } = delivery;
  const message = { id: eventId, timestamp: Math.floor(Date.now() / 1000), body: payload };
  const headers = signedHeaders(message, secretsOf(settings.secretKey, delivery));
  const allowPrivate = settings.allowPrivateUpstreams && ownerIsAdmin;
  const result = await connections.post(url, { headers: { ...headers }, body: payload, allowPrivate });
  attempts.inc({ result: result.error?.toLowerCase() ?? 'delivered' });
  await finish(em(), delivery, result);
  if (result.error === null) return;
  const text = 'A webhook was not delivered. It is tried again, at most for about a day.';
  log?.({ level: 'info', message: text, delivery: id, endpoint: endpointId, ...result });
}

/** The secrets that are valid now, newest first. */
function secretsOf(
  secretKey: string,
  { endpointId, sealedSecret, previousSealed }: ReservedDelivery,
): string[] {
  const current = decryptSecret(secretKey, sealedSecret, secretLocation(endpointId, 'sealed_secret'));
  if (previousSealed === null) return [current];
  return [current, decryptSecret(secretKey, previousSealed, secretLocation(endpointId, 'previous_sealed'))];
}
