/** Sends one delivery to its receiver, within limits of time, size and addresses. */
import { Agent, errors, request } from 'undici';
import { isConnectable, publicLookup } from '../upstreams/address-guard.ts';

/** Time to connect, in ms. */
const CONNECT_MS = 5000;
/** Time for the whole exchange, in ms. */
const TOTAL_MS = 15_000;
/** Bytes of an answer that are read, so that the connection can be used again. They are never stored. */
const ANSWER_BYTES_MAX = 16 * 1024;

/** Why a delivery failed; see the enum of the API. */
export type DeliveryError = 'ADDRESS' | 'CONNECTION' | 'TIMEOUT' | 'STATUS';

/** The result of one attempt; `error` is null for a status of 200 to 299. */
export interface AttemptResult {
  status: number | null;
  error: DeliveryError | null;
}

/** Connections to receivers. Those for administrators may lead to private addresses. */
export class WebhookConnections {
  readonly #public = new Agent({ connect: { timeout: CONNECT_MS, lookup: publicLookup } });
  readonly #any = new Agent({ connect: { timeout: CONNECT_MS } });

  /** Posts the body. Follows no redirect. Never rejects. */
  async post(
    address: string,
    { headers, body, allowPrivate }: { headers: Record<string, string>; body: string; allowPrivate: boolean },
  ): Promise<AttemptResult> {
    const url = new URL(address);
    if (!allowPrivate && (url.protocol !== 'https:' || !isConnectable(url)))
      return { status: null, error: 'ADDRESS' };
    try {
      const answer = await request(url, {
        method: 'POST',
        dispatcher: allowPrivate ? this.#any : this.#public,
        signal: AbortSignal.timeout(TOTAL_MS),
        headers: { ...headers, 'content-type': 'application/json', 'accept-encoding': 'identity' },
        body,
      });
      const status = answer.statusCode;
      await answer.body.dump({ limit: ANSWER_BYTES_MAX }).catch(() => undefined);
      return { status, error: status >= 200 && status < 300 ? null : 'STATUS' };
    } catch (error) {
      return { status: null, error: errorOf(error) };
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await Promise.all([this.#public.destroy(), this.#any.destroy()]);
  }
}

function errorOf(error: unknown): DeliveryError {
  const isLate =
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    (error instanceof Error && error.name === 'TimeoutError');
  return isLate ? 'TIMEOUT' : 'CONNECTION';
}
