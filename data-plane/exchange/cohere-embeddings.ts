/**
 * Cohere's format of embeddings, for its clients only: upstreams are asked in the formats of
 * embedding-formats.ts. https://docs.cohere.com/reference/embed
 */
import { randomUUID } from 'node:crypto';
import { Fields, fieldError } from '../dialects/fields.ts';
import { base64Of } from './embedding-formats.ts';
import type { ClientEmbeddings } from './embedding-formats.ts';

/** Writers of the types in which an answer may hold its vectors. Quantised ones need Cohere's scales. */
const TYPES: Record<'float' | 'base64', (vector: number[]) => unknown> = {
  float: (vector) => vector,
  base64: base64Of,
};
type EmbeddingType = keyof typeof TYPES;

/** The format of `/v2/embed`. */
export const COHERE: ClientEmbeddings = {
  protocol: 'openai-chat',
  decodeRequest: (wire) => {
    const fields = new Fields(wire);
    const model = fields.requiredString('model');
    const inputs = textsOf(fields);
    const types = (fields.stringOrStrings('embedding_types') ?? ['float']).map(typeOf);
    const dimensions = fields.integer('output_dimension');
    return {
      model,
      inputs,
      parameter: 'texts',
      dimensions,
      encoding: 'float',
      types,
      single: false,
      extras: fields.leftovers().map(({ pointer }) => pointer),
    };
  },
  encodeResponse: ({ vectors, tokens }, { inputs, types = ['float'] }) => ({
    id: randomUUID(),
    embeddings: Object.fromEntries(
      types.map((type) => [type, vectors.map((vector) => TYPES[typeOf(type)](vector))]),
    ),
    texts: inputs,
    meta: { api_version: { version: '2' }, billed_units: { input_tokens: tokens.input ?? 0 } },
    response_type: 'embeddings_by_type',
  }),
};

/** The texts: `texts`, or `inputs` whose parts are texts. */
function textsOf(fields: Fields): string[] {
  const texts = fields.strings('texts');
  const inputs = fields.objects('inputs')?.map((input) => {
    const content = input.objects('content') ?? [];
    return content
      .map((part) => {
        part.ignore('type');
        return part.requiredString('text');
      })
      .join('\n');
  });
  const all = texts ?? inputs ?? [];
  if (all.length === 0) throw fieldError('texts', 'a list of texts that is not empty');
  return all;
}

function typeOf(type: string): EmbeddingType {
  if (type === 'float' || type === 'base64') return type;
  throw fieldError('embedding_types', 'a list of float or base64');
}
