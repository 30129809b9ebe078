/**
 * The description of the API in OpenAPI 3.1, generated from the endpoint table.
 * https://spec.openapis.org/oas/v3.1.1
 */
import type { DialectName } from '@gateway/shared/catalog';
import type { Credentials } from '../admission/authenticate.ts';
import { answerUnimplemented } from '../answers/unimplemented.ts';
import { ENCODINGS } from '../call/compressed.ts';
import type { JsonObject } from '../dialects/fields.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { ENDPOINTS, errorFormatOf } from '../endpoints/table.ts';
import { OPERATIONS } from './operations.ts';
import type { Operation } from './operations.ts';
import { SCHEMAS } from './schemas.ts';
import type { SchemaName } from './schemas.ts';

const INFO = {
  title: 'AI gateway',
  description:
    'One base address and one key for AI models in several wire formats. Each path takes requests of its ' +
    'format and answers in it, errors included. Members beyond those listed are those of the format. ' +
    `JSON bodies may be compressed (Content-Encoding: ${ENCODINGS.join(', ')}).`,
};

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer' },
  xApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
  xGenApiKey: { type: 'apiKey', in: 'header', name: 'x-gen-api-key' },
  xGoogApiKey: { type: 'apiKey', in: 'header', name: 'x-goog-api-key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
};
type Scheme = keyof typeof SECURITY_SCHEMES;

const GENERATIVE: readonly Scheme[] = ['xGenApiKey', 'xGoogApiKey', 'query'];
const SCHEMES: Record<Credentials, readonly Scheme[]> = {
  bearer: ['bearer'],
  realtime: ['bearer'],
  messages: ['xApiKey', 'bearer'],
  generative: [...GENERATIVE, 'bearer'],
  models: ['bearer', 'xApiKey', ...GENERATIVE],
};

const text = (description: string): JsonObject => ({ description, schema: { type: 'string' } });
const HEADERS = {
  'x-request-id': { ...text('Id of the request, also in the usage log.'), required: true },
  'x-gateway-price-usd': text('Price of the request in US dollars.'),
  'x-gateway-dropped': text('JSON pointers of what the upstream’s format cannot carry.'),
  'x-gateway-estimated': text('`1` if a token count is an estimate.'),
  'x-should-retry': text('`false` if a retry cannot help.'),
  'retry-after': text('Seconds to wait before a retry.'),
  'retry-after-ms': text('Milliseconds to wait before a retry.'),
  ratelimit: text('Remaining requests of a pool.'),
  'ratelimit-policy': text('Requests per minute of a pool.'),
};
type HeaderName = keyof typeof HEADERS;

const ALWAYS: readonly HeaderName[] = ['x-request-id', 'ratelimit', 'ratelimit-policy'];
const OF_SUCCESS: readonly HeaderName[] = ['x-gateway-price-usd', 'x-gateway-dropped'];
const OF_ERRORS: readonly HeaderName[] = ['x-should-retry', 'retry-after', 'retry-after-ms'];

const PARAMETERS = {
  IdempotencyKey: {
    ...{ name: 'Idempotency-Key', in: 'header', schema: { type: 'string' } },
    description: 'A repeated request with the same key is charged at most once.',
  },
  Strict: {
    ...{ name: 'x-gateway-strict', in: 'header', schema: { const: '1' } },
    description: 'Refuses the request if a part of it would be lost.',
  },
};

const ERROR_SCHEMAS: Record<DialectName, SchemaName> = {
  'openai-chat': 'OpenAiError',
  'openai-responses': 'OpenAiError',
  'anthropic-messages': 'MessagesError',
  'google-generate': 'GoogleError',
};

/** The whole description. */
export function openApiDocument(version: string): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const endpoint of ENDPOINTS) {
    for (const operation of operationsOf(endpoint)) {
      const path = operation.path ?? endpoint.path.replace('*', '{rest}');
      paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: describe(endpoint, path, operation) };
    }
  }
  return {
    openapi: '3.1.1',
    info: { ...INFO, version },
    // Relative to the address of this document.
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: SCHEMAS,
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      parameters: PARAMETERS,
    },
  };
}

/** The operations of a row. Throws if nothing describes it. */
function operationsOf({ method, path, answer }: Endpoint): readonly Operation[] {
  const known = OPERATIONS[`${method} ${path}`];
  if (known) return known;
  if (answer !== answerUnimplemented) throw new Error(`openapi/operations.ts lacks ${method} ${path}`);
  const name = path.replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, letter?: string) => letter?.toUpperCase() ?? '');
  const id = `${method.toLowerCase()}${name}${path.endsWith('*') ? 'Below' : ''}NotOffered`;
  return [{ id, summary: 'Always answers 501: the gateway does not offer this family.' }];
}

function describe(endpoint: Endpoint, path: string, operation: Operation): JsonObject {
  const { method, family, credentials } = endpoint;
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const inPath = names.map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }));
  const common = family === 'free' || operation.upgrades ? [] : Object.keys(PARAMETERS);
  const parameters = [...inPath, ...common.map((name) => ({ $ref: `#/components/parameters/${name}` }))];
  const { request } = operation;
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [family],
    security: SCHEMES[credentials].map((scheme) => ({ [scheme]: [] })),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(method !== 'GET' && request ? { requestBody: bodyOf(endpoint, request) } : {}),
    responses: responsesOf(endpoint, path, operation),
  };
}

function bodyOf({ body }: Endpoint, request: SchemaName): JsonObject {
  const types = [
    ...(body === 'form' ? [] : ['application/json']),
    ...(body === 'json' || body === 'any' ? [] : ['multipart/form-data']),
  ];
  return { required: true, content: contentOf(types, request) };
}

function responsesOf(endpoint: Endpoint, path: string, operation: Operation): JsonObject {
  const errors = errorsOf(endpoint, path);
  const error = (description: string): JsonObject => ({
    description,
    headers: headersOf([...ALWAYS, ...OF_ERRORS]),
    content: { 'application/json': { schema: errors } },
  });
  const failures = { '4XX': error('The request is refused.'), '5XX': error('The request failed.') };
  if (operation.id.endsWith('NotOffered')) return { '501': error('Not offered.'), '4XX': failures['4XX'] };
  if (operation.id === 'responsesSocket') return { '426': error('Use POST.'), ...failures };
  if (operation.upgrades) return { '101': { description: 'The session is open.' }, ...failures };
  const { answer, media = [], streams } = operation;
  const content = {
    ...(answer && streams !== 'always' ? contentOf(['application/json'], answer) : {}),
    ...(streams === undefined ? {} : contentOf(['text/event-stream'], 'Events')),
    ...(streams === 'always' ? { 'application/json': { schema: { type: 'array' } } } : {}),
    ...Object.fromEntries(media.map((type) => [type, {}])),
  };
  const free = endpoint.family === 'free' ? (['x-gateway-estimated'] as const) : OF_SUCCESS;
  const success = { description: 'The answer.', headers: headersOf([...ALWAYS, ...free]), content };
  return { '200': success, ...failures };
}

/** The shape of errors. On paths of several formats the header that carries the key decides. */
function errorsOf({ credentials }: Endpoint, path: string): JsonObject {
  const formatOf = (headers: Record<string, string>, generativeKey: boolean): DialectName =>
    errorFormatOf({ path, headers, query: new URLSearchParams(), generativeKey });
  const isOpen = credentials === 'models';
  const formats = [
    ...(credentials === 'generative' ? [] : [formatOf({}, false)]),
    ...(isOpen || credentials === 'messages' ? [formatOf({ 'x-api-key': '' }, false)] : []),
    ...(isOpen || credentials === 'generative' ? [formatOf({}, true)] : []),
  ];
  const names = [...new Set(formats.map((format) => ERROR_SCHEMAS[format]))];
  const [first, ...others] = names.map(reference);
  return others.length === 0 && first ? first : { anyOf: names.map(reference) };
}

function contentOf(types: readonly string[], schema: SchemaName): JsonObject {
  return Object.fromEntries(types.map((type) => [type, { schema: reference(schema) }]));
}

function reference(schema: SchemaName): JsonObject {
  return { $ref: `#/components/schemas/${schema}` };
}

function headersOf(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
