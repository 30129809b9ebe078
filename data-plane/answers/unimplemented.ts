/**
 * Endpoint families that are known but not offered: a clear 501, after authentication, without reading the
 * body.
 */
import { GatewayError } from '@gateway/shared/failures';
import { callerOf } from '../rate.ts';
import type { Call } from '../call.ts';
import type { Services } from '../services.ts';

/** What SDKs call beside what the gateway offers; each also with anything below it. */
export const UNIMPLEMENTED_PATHS = [
  '/v1/files',
  '/v1/fine_tuning',
  '/v1/fine-tunes',
  '/v1/batches',
  '/v1/uploads',
  '/v1/vector_stores',
  '/v1/containers',
  '/v1/conversations',
  '/v1/assistants',
  '/v1/threads',
  '/v1/images/variations',
  '/v1/messages/batches',
  '/v1beta/files',
  '/v1beta/cachedContents',
  '/v1beta/batches',
  '/v1beta/tunedModels',
  '/upload/v1beta/files',
  '/v1beta/interactions',
] as const;

/** Always throws: `not_implemented` to a caller with a valid key. */
export async function answerUnimplemented(call: Call, services: Services): Promise<void> {
  const caller = callerOf(call, 'models', services);
  services.freeRequests.take(caller.key.id);
  throw new GatewayError('not_implemented', `${call.path} is not offered by this gateway. Do without it.`);
}
