/** A house for tests of webhooks: an administrator with endpoints, a receiver and a worker. */
import type { EntityManager } from '@mikro-orm/postgresql';
import { inTransaction, query, sql } from '../../control-plane/database/sql.ts';
import { announceMail } from '../../control-plane/mail/mail.service.ts';
import { recordWebhook } from '../../control-plane/webhooks/outbox.ts';
import { startWebhooks } from '../../control-plane/webhooks/worker.ts';
import { pick, startTestApp } from './app.ts';
import type { Browser, TestApp } from './app.ts';
import { startReceiver } from './webhook-receiver.ts';
import type { Receiver } from './webhook-receiver.ts';

export const CREATE = `mutation ($input: WebhookEndpointCreateInput!) { webhookEndpointCreate(input: $input) {
  endpoint { id version state } secret userErrors { code message field } } }`;
export const LIST = `{ webhookEndpoints { id state deliveries(first: 100) { nodes {
  id eventId type state attempts responseStatus error } } } }`;

interface ListedDelivery {
  id: string;
  eventId: string;
  type: string;
  state: string;
  attempts: number;
  responseStatus: number | null;
  error: string | null;
}

/** The app, and what tests do with it. */
export interface WebhookHouse {
  test: TestApp;
  admin: Browser;
  adminId: string;
  em(): EntityManager;
  /** An endpoint of the administrator, or of another browser. */
  create(of: { url: string; events?: string[]; by?: Browser }): Promise<{ id: string; secret: string }>;
  /** An event of the administrator. */
  happen(keyId?: string): Promise<void>;
  /** All deliveries of the administrator, oldest first. */
  listed(): Promise<ListedDelivery[]>;
}

/** Starts the app. */
export async function startWebhookHouse(): Promise<WebhookHouse> {
  const test = await startTestApp();
  const em = () => test.orm.em.fork();
  const admin = await test.admin();
  const adminId = pick<string>(await admin.send('{ viewer { id } }'), 'viewer', 'id');
  await announceMail(em(), { ...test.settings, smtpUrl: 'smtp://127.0.0.1:1' });
  return {
    ...{ test, admin, adminId, em },
    create: async ({ url, events = ['KEY_DISABLED'], by = admin }) => {
      const answer = await by.send(CREATE, { input: { url, events } });
      return {
        id: pick<string>(answer, 'webhookEndpointCreate', 'endpoint', 'id'),
        secret: pick<string>(answer, 'webhookEndpointCreate', 'secret'),
      };
    },
    happen: (keyId = 'key_1') =>
      inTransaction(em(), (inner) =>
        recordWebhook(inner, adminId, { type: 'KEY_DISABLED', data: { keyId } }),
      ),
    listed: async () =>
      pick<{ deliveries: { nodes: ListedDelivery[] } }[]>(await admin.send(LIST), 'webhookEndpoints')
        .flatMap(({ deliveries }) => deliveries.nodes)
        .toSorted((left, right) => left.id.localeCompare(right.id)),
  };
}

/** The parts of one test. */
export interface WebhookStage {
  receiver: Receiver;
  worker: ReturnType<typeof startWebhooks>;
  /** Ends both, and deletes all endpoints. */
  close(): Promise<void>;
}

/** Starts a receiver and a worker. */
export async function openStage({ test, em }: WebhookHouse): Promise<WebhookStage> {
  const receiver = await startReceiver();
  const worker = startWebhooks({ em, settings: test.settings });
  return {
    ...{ receiver, worker },
    close: async () => {
      await worker.stop();
      await receiver.close();
      await query(em(), sql`delete from webhook_endpoint`);
    },
  };
}
