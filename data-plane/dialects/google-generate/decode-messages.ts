/** Decodes `systemInstruction` and `contents` of a generateContent request. */
import type { Media, Message, Part, PartBody } from '../canonical.ts';
import { writeJson } from '../exact-json.ts';
import { fieldError, objectsOf, storedObjectError } from '../fields.ts';
import type { Fields } from '../fields.ts';
import { typeOfMime } from '../media.ts';
import { openSeal } from '../seals.ts';
import { isStoredAddress } from '../stored-addresses.ts';
import { applyPartialArguments } from './partial-arguments.ts';
import { NAME, NO_SIGNATURE, spelling } from './wire.ts';

/** Tool calls without a result yet, oldest first: results without an id are matched by name and order. */
type OpenCalls = { id: string; name: string }[];

/** Accepted roles. Older clients send results as `function`. */
const ROLES: ReadonlySet<string> = new Set(['user', 'model', 'function', '']);

/** Reads the system instruction as a message; empty if there is none. */
export function readInstructions(fields: Fields): Message[] {
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
 * Reads `contents`: a text, one content or a list. Throws `invalid_request` with the pointer of an invalid
 * field.
 */
export function readMessages(fields: Fields): Message[] {
  const value = fields.take('contents');
  const at = fields.pointer('contents');
  if (typeof value === 'string') return [{ role: 'user', parts: [{ kind: 'text', text: value, at }], at }];
  const list = fields.objectOrObjects('contents');
  if (!list) throw fieldError(at, 'a list of contents');
  const open: OpenCalls = [];
  return list.map((content, index) => {
    const wireRole = content.string('role') ?? 'user';
    if (!ROLES.has(wireRole)) throw fieldError(content.pointer('role'), 'user or model');
    const parts = readParts(content, open, String(index));
    // Some clients send tool results with role model.
    const role =
      wireRole === 'model' && !parts.some(({ kind }) => kind === 'tool-result') ? 'assistant' : 'user';
    return { role, parts, at: content.at };
  });
}

function readParts(content: Fields, open: OpenCalls, prefix: string): Part[] {
  return (content.objectOrObjects('parts') ?? []).map((part, index) => {
    const signature = part.string(spelling(part, 'thoughtSignature'));
    const body = readPart(part, open, `call_${prefix}_${index}`);
    const seal = signature && signature !== NO_SIGNATURE ? { seal: openSeal(signature, NAME).seal } : {};
    const canBeSealed = body.kind !== 'native' && body.kind !== 'tool-result' && body.kind !== 'refusal';
    return canBeSealed ? { ...body, ...seal, at: part.at } : { ...body, at: part.at };
  });
}

function readPart(part: Fields, open: OpenCalls, fallbackId: string): PartBody {
  const call = part.object(spelling(part, 'functionCall'));
  if (call) return readCall(call, open, fallbackId);
  const result = part.object(spelling(part, 'functionResponse'));
  if (result) return readResult(result, open, fallbackId);
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

function readCall(call: Fields, open: OpenCalls, fallbackId: string): PartBody {
  const id = call.string('id') ?? fallbackId;
  const name = call.requiredString('name');
  const args = call.object('args');
  args?.ignoreAll();
  open.push({ id, name });
  const pieces = objectsOf(call.take(spelling(call, 'partialArgs')));
  const input = pieces.length > 0 ? { ...args?.value } : (args?.value ?? {});
  call.ignore('willContinue', 'will_continue');
  applyPartialArguments(input, pieces);
  return { kind: 'tool-call', id, name, text: writeJson(input) };
}

/**
 * Keys whose value is the whole result if `response` has no other key.
 * https://ai.google.dev/api/caching#FunctionResponse
 */
const RESULT_KEYS: ReadonlySet<string> = new Set([
  'output',
  'result',
  'content',
  'return_value',
  'error',
  'call_error',
]);

function readResult(result: Fields, open: OpenCalls, fallbackId: string): PartBody {
  const name = result.requiredString('name');
  const givenId = result.string('id');
  // Clients invent ids for calls that had none; such a result is matched by name.
  const byId = open.findIndex((call) => call.id === givenId);
  const index = byId < 0 ? open.findIndex((call) => call.name === name) : byId;
  const [call] = index < 0 ? [] : open.splice(index, 1);
  const response = result.object('response');
  response?.ignoreAll();
  result.ignore('willContinue', 'will_continue', 'scheduling');
  const [key, ...others] = Object.keys(response?.value ?? {});
  const isSingle = key !== undefined && others.length === 0 && RESULT_KEYS.has(key);
  const value = isSingle ? response?.value[key] : (response?.value ?? {});
  const text = typeof value === 'string' ? value : writeJson(value ?? null);
  const media = (result.objectOrObjects('parts') ?? []).map((part): Part => ({
    ...readPart(part, open, fallbackId),
    at: part.at,
  }));
  const isError = isSingle && key.endsWith('error');
  return {
    kind: 'tool-result',
    id: call?.id ?? givenId ?? fallbackId,
    name,
    ...(isError && response ? { errorAt: response.pointer(key) } : {}),
    parts: [{ kind: 'text', text, at: response?.at ?? result.at }, ...media],
  };
}

function readInline(inline: Fields): Media {
  const mediaType = inline.string(spelling(inline, 'mimeType')) ?? '';
  const source = { base64: inline.requiredString('data') };
  return { type: typeOfMime(mediaType), mediaType, source, ...readDisplayName(inline) };
}

function readFile(file: Fields): Media {
  const uri = file.requiredString(spelling(file, 'fileUri'));
  const mediaType = file.string(spelling(file, 'mimeType')) ?? '';
  if (isStoredAddress(uri)) throw storedObjectError(file.pointer(spelling(file, 'fileUri')));
  const type = mediaType ? typeOfMime(mediaType) : 'file';
  return { type, mediaType, source: { url: uri }, ...readDisplayName(file) };
}

function readDisplayName(holder: Fields): Pick<Media, 'name' | 'pointers'> {
  const member = spelling(holder, 'displayName');
  const name = holder.string(member);
  return name === undefined ? {} : { name, pointers: { name: holder.pointer(member) } };
}
