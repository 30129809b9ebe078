/** Answers 501 to callers with a valid key on paths that SDKs know and the gateway does not offer. */
import { GatewayError } from '@gateway/shared/failures';
import { admitFree } from '../admission/admit.ts';
import type { Call } from '../call/call.ts';
import type { Services } from '../services.ts';

/** Paths that SDKs call and the gateway does not offer, each with everything below it. */
export const UNIMPLEMENTED_PATHS = [
  // OpenAI: https://platform.openai.com/docs/api-reference
  ...['/v1/files', '/v1/fine_tuning', '/v1/fine-tunes', '/v1/batches', '/v1/uploads', '/v1/vector_stores'],
  ...['/v1/containers', '/v1/assistants', '/v1/threads', '/v1/images/variations'],
  ...['/v1/videos', '/v1/evals', '/v1/skills', '/v1/chatkit', '/v1/agents', '/v1/organization'],
  ...['/v1/audio/voices', '/v1/audio/voice_consents', '/v1/edits', '/v1/live'],
  ...['/v1/realtime/client_secrets', '/v1/realtime/calls', '/v1/realtime/sessions'],
  ...['/v1/realtime/transcription_sessions', '/v1/realtime/translations'],
  // Anthropic: https://platform.claude.com/docs/en/api
  ...['/v1/messages/batches', '/v1/complete', '/v1/organizations', '/v1/user_profiles'],
  // Cohere: https://docs.cohere.com/reference
  ...[
    '/v1/chat',
    '/v2/chat',
    '/v1/embed',
    '/v1/classify',
    '/v1/tokenize',
    '/v1/detokenize',
    '/v1/connectors',
  ],
  ...['/v1/generate', '/v1/summarize', '/v1/embed-jobs', '/v1/datasets', '/v1/finetuning'],
  // Google: https://ai.google.dev/api
  ...['/v1beta/files', '/upload/v1beta/files', '/v1beta/batches'],
  ...['/v1beta/tunedModels', '/v1beta/interactions', '/v1beta/corpora', '/v1beta/fileSearchStores'],
  ...['/upload/v1beta/fileSearchStores', '/v1beta/operations', '/v1beta/auth_tokens', '/v1beta/webhooks'],
];

/** Always throws: `not_implemented` to a caller with a valid key. */
export async function answerUnimplemented(call: Call, services: Services): Promise<void> {
  admitFree(call, 'models', services);
  throw new GatewayError(
    'not_implemented',
    `This gateway does not offer ${call.path}. Use another endpoint.`,
  );
}
