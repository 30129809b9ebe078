/** Changes a request of a chat format into the shape in which a cloud takes it. Pure. */
import { DEFAULT_ACCESS } from './access.ts';
import type { UpstreamAccess } from './access.ts';

/** https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html */
const BEDROCK_VERSION = 'bedrock-2023-05-31';
/** https://docs.cloud.google.com/vertex-ai/generative-ai/docs/partner-models/claude/use-claude */
const VERTEX_VERSION = 'vertex-2023-10-16';
const EVENT_STREAM = 'application/vnd.amazon.eventstream';

/** A request of a format, for the base address of an upstream. */
export interface FormatRequest {
  /** Below the base address, with its query. */
  path: string;
  /** The upstream's name of the model. */
  model: string;
  headers: Record<string, string>;
}

/** The same request in the shape of a cloud. */
export interface StyledRequest {
  path: string;
  headers: Record<string, string>;
  /** Members of the JSON body to set (JSON text) or to leave out (undefined). */
  edits: ReadonlyMap<string, string | undefined>;
}

/** The style has no such request. The message is for the log. */
export class UnknownRequest extends Error {}

const NO_EDITS: StyledRequest['edits'] = new Map();

/** The request in the style of the access. Throws UnknownRequest if the cloud offers nothing like it. */
export function styled(access: UpstreamAccess | null, request: FormatRequest): StyledRequest {
  const { style, pathTemplate, headers, query } = access ?? DEFAULT_ACCESS;
  const shaped = SHAPES[style](request);
  const [path, ownQuery] = split(shaped.path);
  const model = encodeURIComponent(request.model);
  const full =
    pathTemplate === null
      ? path
      : pathTemplate.replaceAll(/\{(path|model)\}/g, (_, name) => (name === 'path' ? path : model));
  const parameters = query.map(
    ({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  const whole = [...(ownQuery ? [ownQuery] : []), ...parameters].join('&');
  return {
    path: whole ? `${full}?${whole}` : full,
    headers: {
      ...shaped.headers,
      ...Object.fromEntries(headers.map(({ name, value }) => [name.toLowerCase(), value])),
    },
    edits: shaped.edits,
  };
}

const SHAPES: Record<UpstreamAccess['style'], (request: FormatRequest) => StyledRequest> = {
  STANDARD: ({ path, headers }) => ({ path, headers, edits: NO_EDITS }),
  BEDROCK: bedrock,
  VERTEX: vertex,
};

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModelWithResponseStream.html */
function bedrock(request: FormatRequest): StyledRequest {
  const { path, model, headers } = request;
  if (path.startsWith('/model/')) return converse(request);
  if (path !== '/messages') throw new UnknownRequest(`Bedrock's InvokeModel has no ${path}`);
  const { 'anthropic-version': _version, 'anthropic-beta': beta, ...others } = headers;
  const isStreamed = headers.accept === 'text/event-stream';
  const flags = (beta ?? '')
    .split(',')
    .map((flag) => flag.trim())
    .filter(Boolean);
  return {
    path: `/model/${encodeURIComponent(model)}/${isStreamed ? 'invoke-with-response-stream' : 'invoke'}`,
    headers: { ...others, accept: isStreamed ? EVENT_STREAM : 'application/json' },
    edits: new Map([
      ['model', undefined],
      ['stream', undefined],
      ['anthropic_version', JSON.stringify(BEDROCK_VERSION)],
      ...(flags.length > 0 ? [['anthropic_beta', JSON.stringify(flags)] as const] : []),
    ]),
  };
}

/** The path is that of Bedrock already. Its streams are no server-sent events. */
function converse({ path, headers }: FormatRequest): StyledRequest {
  const isStreamed = headers.accept === 'text/event-stream';
  return { path, headers: { ...headers, ...(isStreamed && { accept: EVENT_STREAM }) }, edits: NO_EDITS };
}

/** https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference */
function vertex({ path, model, headers }: FormatRequest): StyledRequest {
  if (path.startsWith('/models/')) return { path: `/publishers/google${path}`, headers, edits: NO_EDITS };
  const { 'anthropic-version': _version, ...others } = headers;
  const publisher = '/publishers/anthropic/models';
  // Counting names the model in the body alone.
  if (path === '/messages/count_tokens')
    return { path: `${publisher}/count-tokens:rawPredict`, headers: others, edits: NO_EDITS };
  if (path !== '/messages') throw new UnknownRequest(`Vertex AI has no ${path} in this style`);
  const verb = headers.accept === 'text/event-stream' ? 'streamRawPredict' : 'rawPredict';
  return {
    path: `${publisher}/${encodeURIComponent(model)}:${verb}`,
    headers: others,
    edits: new Map([
      ['model', undefined],
      ['anthropic_version', JSON.stringify(VERTEX_VERSION)],
    ]),
  };
}

function split(path: string): [string, string | undefined] {
  const mark = path.indexOf('?');
  return mark < 0 ? [path, undefined] : [path.slice(0, mark), path.slice(mark + 1)];
}
