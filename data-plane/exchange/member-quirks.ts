/**
 * Applies the quirks of an upstream that concern members of the request that it is sent: what is dropped,
 * renamed, limited or written. Pure.
 */
import type { ProtocolName } from '@gateway/shared/catalog';
import type { Quirk } from '@gateway/shared/quirks';
import type { ChatRequest, Reasoning, ScalarName } from '../dialects/canonical.ts';
import { isReasoningWanted } from '../dialects/effort.ts';
import { writeJson } from '../dialects/exact-json.ts';
import { isObject, numberOf, objectOf } from '../dialects/fields.ts';
import type { JsonObject } from '../dialects/fields.ts';
import { pointerOf } from '../dialects/member-table.ts';

interface MemberQuirkOptions {
  quirks: readonly Quirk[];
  /** The upstream's format. */
  dialect: ProtocolName;
  /** The reasoning that the client asks for. */
  reasoning: Reasoning | undefined;
}

/** The changes that quirks made to a body. */
interface QuirkedBody {
  body: JsonObject;
  /** Names of the changed members of the top level. */
  changed: ReadonlySet<string>;
  /** Paths, from the top level, of the members whose meaning was changed or lost. */
  lost: readonly string[][];
}

/** The body of an upstream request after these quirks, in the order of the rows. */
export function quirkedBody(body: JsonObject, options: MemberQuirkOptions): QuirkedBody {
  const draft = new Draft(body);
  for (const quirk of options.quirks) apply(draft, quirk, options);
  return draft;
}

/** Names of the members of the top level that `quirkedBody` changes or compares for these quirks. */
export function quirkedMembers(quirks: readonly Quirk[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { kind, member, other } of quirks) {
    const [name = ''] = (member ?? '').split('.');
    if (name !== '') names.add(name);
    if (kind === 'RENAME') names.add(other ?? '');
    if (kind === 'NO_PARALLEL_TOOLS') names.add('tool_choice').add('parallel_tool_calls');
  }
  return names;
}

function apply(draft: Draft, quirk: Quirk, { dialect, reasoning }: MemberQuirkOptions): void {
  const steps = (quirk.member ?? '').split('.');
  switch (quirk.kind) {
    case 'DROP':
      return draft.lose(steps);
    case 'RENAME':
      return rename(draft, steps, [quirk.other ?? '']);
    case 'CLAMP':
      return clamp(draft, steps, quirk);
    case 'SET':
      return draft.replace(steps, valueOf(quirk.value));
    case 'REPLACE':
      if (draft.has(steps) && isSame(draft.get(steps), valueOf(quirk.other)))
        draft.replace(steps, valueOf(quirk.value));
      return;
    case 'REASONING_ON':
      if (isReasoningWanted(reasoning)) draft.set(steps, valueOf(quirk.value));
      return;
    case 'REASONING_OFF':
      if (reasoning && !isReasoningWanted(reasoning)) draft.set(steps, valueOf(quirk.value));
      return;
    case 'NO_PARALLEL_TOOLS':
      return forbidParallelTools(draft, dialect);
    default:
  }
}

function rename(draft: Draft, from: readonly string[], to: readonly string[]): void {
  if (!draft.has(from)) return;
  if (draft.has(to)) return draft.lose(from);
  draft.set(to, draft.get(from));
  draft.remove(from);
}

function clamp(draft: Draft, steps: readonly string[], { min, max }: Quirk): void {
  const number = numberOf(draft.get(steps));
  if (number === undefined) return;
  const within = Math.min(Math.max(number, min ?? -Infinity), max ?? Infinity);
  if (within !== number) draft.replace(steps, within);
}

/** Google's format has no such switch. */
function forbidParallelTools(draft: Draft, dialect: ProtocolName): void {
  const tools = draft.get(['tools']);
  if (!Array.isArray(tools) || tools.length === 0) return;
  if (dialect === 'openai-chat' || dialect === 'openai-responses')
    return draft.replace(['parallel_tool_calls'], false);
  if (dialect !== 'anthropic-messages') return;
  const choice = objectOf(draft.get(['tool_choice']));
  if (choice.type === 'none') return;
  draft.set(['tool_choice'], { type: 'auto', ...choice, disable_parallel_tool_use: true });
}

/** A copy of a body. Only the objects on the way to a change are copied. */
class Draft implements QuirkedBody {
  readonly body: JsonObject;
  readonly changed = new Set<string>();
  readonly lost: string[][] = [];
  readonly #copied = new Set<JsonObject>();

  constructor(body: JsonObject) {
    this.body = { ...body };
    this.#copied.add(this.body);
  }

  has(steps: readonly string[]): boolean {
    return this.get(steps) !== undefined;
  }

  get(steps: readonly string[]): unknown {
    let value: unknown = this.body;
    for (const step of steps) value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    return value;
  }

  /** Writes a member; creates the objects around it. Does nothing if one of them is no object. */
  set(steps: readonly string[], value: unknown): void {
    const name = steps.at(-1) ?? '';
    const parent = this.#parentOf(steps);
    if (!parent) return;
    parent[name] = value;
    this.changed.add(steps[0] ?? '');
  }

  /** Writes a member, and notes the loss if it had another value. */
  replace(steps: readonly string[], value: unknown): void {
    if (this.has(steps) && !isSame(this.get(steps), value)) this.lost.push([...steps]);
    this.set(steps, value);
  }

  remove(steps: readonly string[]): void {
    const parent = this.has(steps) ? this.#parentOf(steps) : undefined;
    if (!parent) return;
    delete parent[steps.at(-1) ?? ''];
    this.changed.add(steps[0] ?? '');
  }

  /** Removes a member, and notes the loss. */
  lose(steps: readonly string[]): void {
    if (!this.has(steps)) return;
    this.remove(steps);
    this.lost.push([...steps]);
  }

  /** The copied object that holds the member; undefined if something else is in the way. */
  #parentOf(steps: readonly string[]): JsonObject | undefined {
    let parent = this.body;
    for (const step of steps.slice(0, -1)) {
      const child = Object.hasOwn(parent, step) ? (parent[step] ?? {}) : {};
      if (!isObject(child)) return undefined;
      const copy = this.#copied.has(child) ? child : { ...child };
      this.#copied.add(copy);
      parent[step] = copy;
      parent = copy;
    }
    return parent;
  }
}

/** The value of a row, which was checked when the row was saved. */
function valueOf(text: string | null): unknown {
  return text === null ? undefined : JSON.parse(text);
}

function isSame(one: unknown, other: unknown): boolean {
  return writeJson(one) === writeJson(other);
}

/** The canonical member that the formats' members carry, by the last step of their names. */
const SCALARS: Readonly<Record<string, ScalarName>> = {
  temperature: 'temperature',
  top_p: 'topP',
  topP: 'topP',
  top_k: 'topK',
  topK: 'topK',
  max_tokens: 'maxOutputTokens',
  max_completion_tokens: 'maxOutputTokens',
  max_output_tokens: 'maxOutputTokens',
  maxOutputTokens: 'maxOutputTokens',
  stop: 'stop',
  stop_sequences: 'stop',
  stopSequences: 'stop',
  seed: 'seed',
  presence_penalty: 'presencePenalty',
  presencePenalty: 'presencePenalty',
  frequency_penalty: 'frequencyPenalty',
  frequencyPenalty: 'frequencyPenalty',
  logprobs: 'logprobs',
  top_logprobs: 'logprobs',
  reasoning: 'reasoning',
  reasoning_effort: 'reasoning',
  thinking: 'reasoning',
  thinkingConfig: 'reasoning',
  response_format: 'format',
  responseSchema: 'format',
  verbosity: 'verbosity',
  modalities: 'modalities',
  user: 'user',
  metadata: 'metadata',
  service_tier: 'serviceTier',
  prompt_cache_key: 'cacheKey',
  parallel_tool_calls: 'parallelToolCalls',
};
/** Members that encoders add on their own. */
const OWN: ReadonlySet<string> = new Set(['stream_options', 'include_usage', 'stream']);

/** JSON pointers, into a translated request of the client, of what these lost members carried. */
export function lostPointers(lost: readonly string[][], { pointers }: ChatRequest): string[] {
  return lost.flatMap((steps) => {
    const name = steps.findLast((step) => Object.hasOwn(SCALARS, step));
    if (name !== undefined) return pointers[SCALARS[name] ?? 'temperature'] ?? [];
    return steps.some((step) => OWN.has(step)) ? [] : pointerOf(steps);
  });
}
