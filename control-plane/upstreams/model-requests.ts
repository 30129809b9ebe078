/** The requests for lists of models, for each format and cloud, and the names in the answers. Pure. */
import { DEFAULT_ACCESS } from '@gateway/shared/clouds/access';
import type { ProtocolName } from '@gateway/shared/catalog';
import type { ProviderTarget } from './probe-target.ts';

/** A GET for a list of models. */
export interface ListRequest {
  baseUrl: string;
  path: string;
  headers: Record<string, string>;
}

type ListTarget = Pick<ProviderTarget, 'protocol' | 'protocols' | 'baseUrl' | 'secret' | 'access'>;

/** The publishers of Vertex AI, by the format of their models. */
const PUBLISHERS: Partial<Record<ProtocolName, string>> = {
  'google-generate': 'google',
  'anthropic-messages': 'anthropic',
};

/** The requests whose answers together hold the models of a provider; at least one. */
export function listRequests(target: ListTarget): ListRequest[] {
  const { access, baseUrl, protocols } = target;
  switch (access?.style ?? 'STANDARD') {
    case 'BEDROCK':
      return ['/foundation-models?byOutputModality=TEXT', '/inference-profiles?maxResults=1000'].map(
        (path) => ({ ...{ baseUrl: bedrockAddress(baseUrl), path, headers: {} } }),
      );
    case 'VERTEX':
      // https://cloud.google.com/vertex-ai/docs/reference/rest/v1beta1/publishers.models/list
      return protocols.map((protocol) => ({
        baseUrl: new URL(baseUrl).origin,
        path: `/v1beta1/publishers/${PUBLISHERS[protocol] ?? 'google'}/models?pageSize=1000`,
        headers: {},
      }));
    default:
      return [standardRequest(target)];
  }
}

/**
 * Bedrock lists models at another host than it runs them.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListFoundationModels.html
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_ListInferenceProfiles.html
 */
function bedrockAddress(baseUrl: string): string {
  return new URL(baseUrl).origin.replace(
    /\/\/bedrock-runtime(-fips)?\.([a-z0-9-]+\.amazonaws\.com(?:\.cn)?)$/,
    '//bedrock$1.$2',
  );
}

/**
 * OpenAI: https://platform.openai.com/docs/api-reference/models/list, Anthropic (up to 1000 a page):
 * https://docs.anthropic.com/en/api/models-list, Google: https://ai.google.dev/api/models#method:-models.list
 */
function standardRequest({ protocol, secret, access, baseUrl }: ListTarget): ListRequest {
  // Secrets of the other kinds are never sent as they are.
  const key = (access ?? DEFAULT_ACCESS).auth === 'API_KEY' ? secret : null;
  if (protocol === 'anthropic-messages')
    return {
      baseUrl,
      path: '/models?limit=1000',
      headers: { 'anthropic-version': '2023-06-01', ...(key && { 'x-api-key': key }) },
    };
  if (protocol === 'google-generate')
    return { baseUrl, path: '/models?pageSize=1000', headers: key ? { 'x-goog-api-key': key } : {} };
  return { baseUrl, path: '/models', headers: key ? { authorization: `Bearer ${key}` } : {} };
}

/** A list of models in an answer, and the names of its items. */
interface ListShape {
  list: string;
  name: string;
  /** Removed from the names. */
  prefix?: RegExp;
}

const SHAPES: readonly ListShape[] = [
  { list: 'data', name: 'id', prefix: /^models\// },
  { list: 'models', name: 'name', prefix: /^models\// },
  { list: 'publisherModels', name: 'name', prefix: /^publishers\/[^/]+\/models\// },
  { list: 'modelSummaries', name: 'modelId' },
  { list: 'inferenceProfileSummaries', name: 'inferenceProfileId' },
];

/** The names of the models in an answer that this format can use; undefined if it is no list of models. */
export function namesIn(answer: unknown, protocol: ProtocolName): string[] | undefined {
  const body: Record<string, unknown> = typeof answer === 'object' && answer !== null ? { ...answer } : {};
  const shape = SHAPES.find(({ list }) => Array.isArray(body[list]));
  const items: unknown = shape && body[shape.list];
  if (!shape || !Array.isArray(items)) return undefined;
  const isBedrock = shape.list === 'modelSummaries' || shape.list === 'inferenceProfileSummaries';
  return items.flatMap((item: unknown) => {
    const fields: Record<string, unknown> = typeof item === 'object' && item !== null ? { ...item } : {};
    const given = fields[shape.name] ?? fields.name;
    const name = typeof given === 'string' ? given.replace(shape.prefix ?? '', '') : '';
    return isBedrock && !isInvocable(fields, name, protocol) ? [] : [name];
  });
}

/** Models without on-demand throughput are used by an inference profile; InvokeModel takes Claude alone. */
function isInvocable(
  { inferenceTypesSupported: types }: Record<string, unknown>,
  name: string,
  protocol: ProtocolName,
): boolean {
  if (Array.isArray(types) && !types.includes('ON_DEMAND')) return false;
  return protocol === 'bedrock-converse' || name.includes('anthropic.');
}
