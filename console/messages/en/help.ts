/** English texts of the help page: what each error means and what to do. */
import type { FailureCode } from '@gateway/shared/failures';

const failures = {
  invalid_request: 'A value in the request is not valid. The message names it. Correct it and send again.',
  invalid_key: 'The key is unknown or missing. Copy it again. Some proxies remove the header.',
  insufficient_funds: 'The wallet cannot cover the price. You were not charged. Add credit.',
  spend_limit_reached:
    'The key has reached its monthly cap. Raise the cap, or wait for the next month (UTC).',
  key_disabled: 'The key is disabled. Enable it on the keys page, or create another key.',
  key_expired: 'The key has expired. Set a later date, or create another key.',
  pool_expired: 'The paid period of the pool is over. Renew the pool, and its keys work again.',
  wrong_host:
    'Pool keys work only on the pool’s address; other keys work only on the main address. ' +
    'The error names the right one.',
  model_not_in_pool: 'The pool does not include this model. Use one of its models.',
  ip_not_allowed: 'The key may not be used from this IP address. Add the address to the key.',
  wallet_frozen: 'The wallet is frozen until the amount owed is paid. Pay it, then send again.',
  model_not_found:
    'No model with this name is available to the key. Copy the exact name from the price list.',
  not_found: 'There is nothing at this path. Compare it with the base addresses above.',
  method_not_allowed: 'The path does not accept this method. The answer lists the accepted ones.',
  request_timeout: 'The request did not arrive completely. Send it again over a better connection.',
  idempotency_in_flight:
    'A request with this Idempotency-Key is still running. Wait a moment, then send again.',
  idempotency_done: 'A request with this Idempotency-Key was already answered and charged. Use a new key.',
  body_too_large: 'The body is larger than the model accepts. Send less at once.',
  unsupported_media_type: 'The content type or encoding is not supported. Send JSON, or form data for files.',
  expectation_failed: 'Only “Expect: 100-continue” is supported. Leave the Expect header out.',
  unknown_pool: 'No pool has this address. Check the subdomain.',
  idempotency_mismatch: 'This Idempotency-Key was used with another body. Use a new key for a new request.',
  upgrade_required:
    'The realtime path needs a WebSocket, and the responses path has none. Codex switches to HTTP by itself.',
  rate_limited: 'Too many requests per minute. Wait as long as the retry-after header says.',
  too_many_concurrent: 'Too many requests at once. Wait until some have finished.',
  client_closed:
    'The client disconnected before the answer was complete. The request is charged if content was sent.',
  internal: 'The gateway failed. Send the request again. If it keeps failing, report the request id.',
  not_implemented: 'Files, fine-tuning, batches and uploads are not offered. You were not charged.',
  upstream_failed: 'The provider failed. You were not charged. Send again, or use another model.',
  upstream_busy: 'The provider is overloaded. Wait as long as the retry-after header says.',
  unavailable: 'No node can serve this now. You were not charged. Send again in a moment.',
  upstream_timeout: 'The provider did not answer in time. You were not charged. Send again.',
} as const satisfies Record<FailureCode, string>;

export const help = {
  help: {
    title: 'Help',
    sentence: 'Addresses, keys, limits, and what each error means.',
    addresses: 'Base addresses',
    chat: 'Chat completions and responses',
    chatNote: 'OpenAI SDKs, Codex',
    bare: 'Messages and generative language',
    bareNote: 'Anthropic and Google SDKs, Claude Code, Gemini CLI',
    keys: 'Keys',
    key1: 'A key is <code>sk-</code> and 48 letters and digits. It is shown once, when you reveal it.',
    key2: 'Send it as <code>Authorization: Bearer</code>; on messages also as <code>x-api-key</code>.',
    key3: 'On generative language: <code>x-goog-api-key</code>, or <code>?key=</code> in the address.',
    key4: 'Pool keys only work on the address of their pool.',
    limits: 'Limits and prices',
    limit1:
      'Each model has one price per request, multiplied by the ratio of the key’s group. ' +
      'Failed requests are free.',
    limit2:
      'Each model limits choices, inputs and size of a request. Above them, requests fail with 400 or 413.',
    limit3: 'A pool has a cap on requests per minute. The RateLimit headers say what is left.',
    errors: 'Errors',
    errorsNote: 'Every response has an x-request-id header. The usage page finds a request by this id.',
    code: 'Code',
    status: 'Status',
    means: 'What it means, and what to do',
    failures,
    more: 'More',
    conformance: 'Conformance',
    explorer: 'API explorer (GraphQL)',
    shortcuts: 'Keyboard: Ctrl K opens search and commands, / searches a list, ? shows all shortcuts.',
  },
} as const;
