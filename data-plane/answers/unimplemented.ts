/** Answers 501 to callers with a valid key on paths that SDKs know and the gateway does not offer. */
import { GatewayError } from '@gateway/shared/failures';
import { admitFree } from '../admission/admit.ts';
import type { Call } from '../call/call.ts';
import type { Services } from '../services.ts';

/** Paths that SDKs call and the gateway does not offer, each with everything below it. */
export const UNIMPLEMENTED_PATHS = [
  '/v1/files',
  '/v1/fine_tuning',
  '/v1/fine-tunes',
  '/v1/batches',
  '/v1/uploads',
  '/v1/vector_stores',
  '/v1/containers',
  '/v1/assistants',
  '/v1/threads',
  '/v1/images/variations',
  '/v1/videos',
  '/v1/realtime/client_secrets',
  '/v2/chat',
  '/v1/messages/batches',
  '/v1beta/files',
  '/v1beta/batches',
  '/v1beta/tunedModels',
  '/upload/v1beta/files',
  '/v1beta/interactions',
] as const;

/** Always throws: `not_implemented` to a caller with a valid key. */
export async function answerUnimplemented(call: Call, services: Services): Promise<void> {
  admitFree(call, 'models', services);
  throw new GatewayError(
    'not_implemented',
    `This gateway does not offer ${call.path}. Use another endpoint.`,
  );
}
