/** The contents of a generateContent request, read into canonical messages. */
import type { Media, Message, Part, PartBody } from '../canonical.ts';
import { Fields, isObject, objectsOf, refuseStored, wrong } from '../fields.ts';
import { typeOfMime } from '../media.ts';
import { openSeal } from '../seals.ts';
import { applyPartialArguments } from './partial-arguments.ts';
import { NAME, spelling } from './wire.ts';

/** Calls that wait for their result, oldest first: results without an id meet them by name and order. */
type Open = { id: string; name: string }[];

/** Addresses in the provider's own file store. */
const STORED = /^(gs:\/\/|files\/|https:\/\/generativelanguage\.googleapis\.com\/)/i;

/** `function` is what older clients say for results. */
const ROLES: ReadonlySet<string> = new Set(['user', 'model', 'function', '']);
/** What Gemini CLI sends where there was no signature. */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** The system instruction as a first message; none where it is absent. */
export function readInstruction(fields: Fields): Message[] {
  const name = spelling(fields, 'systemInstruction');
  const value = fields.take(name);
  const at = fields.pointer(name);
  if (value === undefined) return [];
  if (typeof value === 'string') return [{ role: 'system', parts: [{ kind: 'text', text: value, at }], at }];
  const holder = Array.isArray(value) ? fields.child({ parts: value }, at) : fields.child(value, at);
  holder.ignore('role');
  const parts = readParts(holder, [], 'system');
  return parts.length === 0 ? [] : [{ role: 'system', parts, at }];
}

/**
 * Reads `contents`: a text, one content or a list. Throws `invalid_request` naming the pointer of what is
 * wrong.
 */
export function readContents(fields: Fields): Message[] {
  const value = fields.take('contents');
  const at = fields.pointer('contents');
  if (typeof value === 'string') return [{ role: 'user', parts: [{ kind: 'text', text: value, at }], at }];
  const list = isObject(value) ? [fields.child(value, at)] : fields.objects('contents');
  if (!list) throw wrong(at, 'a list of contents');
  const open: Open = [];
  return list.map((content, index) => {
    const named = content.string('role') ?? 'user';
    if (!ROLES.has(named)) throw wrong(content.pointer('role'), 'user or model');
    const isModel = named === 'model';
    const parts = readParts(content, open, String(index));
    // Some clients send results under role model.
    const role = isModel && !parts.some(({ kind }) => kind === 'tool-result') ? 'assistant' : 'user';
    return { role, parts, at: content.at };
  });
}

function readParts(content: Fields, open: Open, prefix: string): Part[] {
  return (content.objects('parts') ?? []).map((part, index) => {
    const signature = part.string(spelling(part, 'thoughtSignature'));
    const body = readPart(part, open, `call_${prefix}_${index}`);
    const seal = signature && signature !== NO_SIGNATURE ? { seal: openSeal(signature, NAME).seal } : {};
    const canBeSealed = body.kind !== 'native' && body.kind !== 'tool-result' && body.kind !== 'refusal';
    return canBeSealed ? { ...body, ...seal, at: part.at } : { ...body, at: part.at };
  });
}

function readPart(part: Fields, open: Open, spareId: string): PartBody {
  const call = part.object(spelling(part, 'functionCall'));
  if (call) return readCall(call, open, spareId);
  const result = part.object(spelling(part, 'functionResponse'));
  if (result) return readResult(result, open, spareId);
  const inline = part.object(spelling(part, 'inlineData'));
  if (inline) return { kind: 'media', media: readInline(inline) };
  const file = part.object(spelling(part, 'fileData'));
  if (file) return { kind: 'media', media: readFile(file) };
  const isThought = part.boolean('thought') ?? false;
  const text = part.string('text');
  if (text !== undefined || part.has(spelling(part, 'thoughtSignature'))) {
    return { kind: isThought ? 'reasoning' : 'text', text: text ?? '' };
  }
  part.ignoreAll();
  return { kind: 'native', dialect: NAME, value: part.value };
}

function readCall(call: Fields, open: Open, spareId: string): PartBody {
  const id = call.string('id') ?? spareId;
  const name = call.requiredString('name');
  const args = call.object('args');
  args?.ignoreAll();
  open.push({ id, name });
  const whole = { ...args?.value };
  const pieces = call.take(spelling(call, 'partialArgs'));
  call.ignore('willContinue', 'will_continue');
  applyPartialArguments(whole, objectsOf(pieces));
  return { kind: 'tool-call', id, name, text: JSON.stringify(whole) };
}

/** Keys under which a result may stand alone. https://ai.google.dev/api/caching#FunctionResponse */
const RESULT_KEYS: ReadonlySet<string> = new Set([
  'output',
  'result',
  'content',
  'return_value',
  'error',
  'call_error',
]);

function readResult(result: Fields, open: Open, spareId: string): PartBody {
  const name = result.requiredString('name');
  const given = result.string('id');
  // Clients make ids up for calls that had none: then the name counts.
  const byId = open.findIndex((call) => call.id === given);
  const index = byId < 0 ? open.findIndex((call) => call.name === name) : byId;
  const [call] = index < 0 ? [] : open.splice(index, 1);
  const response = result.object('response');
  response?.ignoreAll();
  result.ignore('willContinue', 'will_continue', 'scheduling');
  const [key, ...others] = Object.keys(response?.value ?? {});
  const isSingle = key !== undefined && others.length === 0 && RESULT_KEYS.has(key);
  const said = isSingle ? response?.value[key] : (response?.value ?? {});
  const text = typeof said === 'string' ? said : JSON.stringify(said ?? null);
  const media = (result.objects('parts') ?? []).map((part): Part => ({
    ...readPart(part, open, spareId),
    at: part.at,
  }));
  const isError = isSingle && key.endsWith('error');
  return {
    kind: 'tool-result',
    id: call?.id ?? given ?? spareId,
    name,
    ...(isError && response ? { errorAt: response.pointer(key) } : {}),
    parts: [{ kind: 'text', text, at: response?.at ?? result.at }, ...media],
  };
}

function readInline(inline: Fields): Media {
  const mediaType = inline.string(spelling(inline, 'mimeType')) ?? '';
  const name = inline.string(spelling(inline, 'displayName'));
  const source = { base64: inline.requiredString('data') };
  return { type: typeOfMime(mediaType), mediaType, source, ...(name === undefined ? {} : { name }) };
}

function readFile(file: Fields): Media {
  const uri = file.requiredString(spelling(file, 'fileUri'));
  const mediaType = file.string(spelling(file, 'mimeType')) ?? '';
  const name = file.string(spelling(file, 'displayName'));
  if (STORED.test(uri)) throw refuseStored(file.pointer(spelling(file, 'fileUri')));
  const type = mediaType ? typeOfMime(mediaType) : 'file';
  return { type, mediaType, source: { url: uri }, ...(name === undefined ? {} : { name }) };
}
