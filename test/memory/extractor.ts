/**
 * A deterministic stand-in for the model that reads chats. It behaves like a mediocre model: it finds what is
 * said in plain words. It also notes what it should not: suppositions, quotations, secrets, lines of the
 * block about the user, and what the assistant asserts.
 */

/** Input of the model, as the prompt describes it. */
export interface ExtractorInput {
  items: { id: string; kind: string; text: string }[];
  messages: { id: string; role: 'USER' | 'ASSISTANT'; text: string }[];
}

type ReadMessage = ExtractorInput['messages'][number];

interface Draft {
  op: string;
  kind: string;
  id?: string;
  text: string;
  evidence: string[];
}

const SENTENCES = /[^.!?\n。！？；;]+[.!?\n。！？；;]*/g;
const SURELY = '(?:really|strongly|always|generally|usually|now|actually) ';
const WORKS =
  'working on|building|writing|preparing|migrating|planning|designing|rewriting|developing|fixing';
const DAYS = 'monday|tuesday|wednesday|thursday|friday|saturday|sunday';
const PREFERENCE = anyOf(
  String.raw`\b(?:i|i'd) (?:${SURELY})?(?:prefer|like|love|want|favou?r|hate|dislike)\b`,
  String.raw`\bplease (?:always|never|keep|use|answer|write|avoid)\b`,
  String.raw`\bmy (?:favou?rite|preferred|stack|default|native)\b`,
  '我(?:更|比较|现在|一般|总是|通常|其实)?(?:喜欢|偏好|习惯用|想要|讨厌|不喜欢)',
  '请(?:总是|一直|不要|用|务必)|我的(?:首选|母语|技术栈)',
);
const ROUTINE = anyOf(
  String.raw`\b(?:every|each) (?:day|morning|afternoon|evening|night|week|weekend|month|quarter)\b`,
  String.raw`\b(?:every|each) (?:${DAYS}|sprint|release|time)\b`,
  String.raw`\b(?:on (?:mon|tues|wednes|thurs|fri|satur|sun)days|daily|weekly|monthly)\b`,
  '每(?:天|日|周|个?月|个?星期|晚|早|次|季度|年)|每逢',
);
const WORKING_ON = anyOf(
  String.raw`\b(?:i am|i'm|we are|we're) (?:(?:currently|now|still|also) )?(?:${WORKS})\b`,
  '我(?:们)?(?:正在|在做|在写|在准备|目前在|现在在)',
);
const DONE = anyOf(
  String.raw`\b(?:i|we)(?:'ve| have)? (?:finished|completed|shipped|abandoned|dropped|cancelled|delivered)\b`,
  '我(?:们)?(?:已经)?(?:完成|做完|写完|放弃|交付|上线)了',
);
/** Assertions of the assistant about the user. */
const ASSERTED = anyOf(
  String.raw`\byou(?:'ve| have)? (?:${SURELY})?(?:prefer|like|love|hate|want|use|enjoy|mentioned|told me)\b`,
  '你(?:更|比较|一直|总是)?(?:喜欢|偏好|习惯|讨厌|提到|说过)',
);
const CHANGE = anyOf(
  String.raw`\b(?:now|instead|actually|no longer|any ?more|changed my mind|from now on|switched)\b`,
  '现在|改成|不再|改用|其实|从现在起',
);

function anyOf(...expressions: string[]): RegExp {
  return new RegExp(expressions.join('|'), 'i');
}

/** The answer of the model, as JSON. */
export function extract({ items, messages }: ExtractorInput): string {
  const operations = [
    ...messages.flatMap((message, at) =>
      message.role === 'USER' ? notesOf(message, items) : assertionsOf(message, messages[at - 1]),
    ),
    ...summaryOf(messages, items),
  ];
  return JSON.stringify({ operations });
}

function notesOf(message: ReadMessage, items: ExtractorInput['items']): Draft[] {
  return (message.text.match(SENTENCES) ?? []).flatMap((part) => {
    const text = part.trim().slice(0, 200);
    const evidence = [message.id];
    if (DONE.test(text)) {
      const task = closest(items, 'WORKING_ON', text);
      return task ? [{ op: 'EXPIRE', kind: task.kind, id: task.id, text, evidence }] : [];
    }
    const kind = ROUTINE.test(text)
      ? 'DURABLE_ROUTINE'
      : WORKING_ON.test(text)
        ? 'WORKING_ON'
        : PREFERENCE.test(text) || text.startsWith('- ')
          ? 'PREFERENCE_PROFILE'
          : undefined;
    if (!kind) return [];
    const known = closest(items, kind, text);
    if (known && CHANGE.test(text)) return [{ op: 'UPDATE', kind, id: known.id, text, evidence }];
    return [{ op: 'ADD', kind, text, evidence }];
  });
}

/** Assertions of the assistant about the user, as if the user had made them in the message before. */
function assertionsOf(message: ReadMessage, before: ReadMessage | undefined): Draft[] {
  const evidence = [before?.role === 'USER' ? before.id : message.id];
  return (message.text.match(SENTENCES) ?? [])
    .map((part) => part.trim().slice(0, 200))
    .filter((text) => ASSERTED.test(text) || text.startsWith('- '))
    .map((text) => ({ op: 'ADD', kind: 'PREFERENCE_PROFILE', text, evidence }));
}

/** First and last sentence of the user. */
function summaryOf(messages: ReadMessage[], items: ExtractorInput['items']): Draft[] {
  const own = messages.filter(({ role }) => role === 'USER');
  const sentences = own.flatMap(({ text }) => text.match(SENTENCES) ?? []).map((text) => text.trim());
  const [first] = sentences;
  const last = sentences.at(-1);
  if (!first || !last) return [];
  const text = (first === last ? first : `${first} ${last}`).slice(0, 500);
  const known = items.find(({ kind }) => kind === 'CONVERSATION_SUMMARY');
  const draft = { kind: 'CONVERSATION_SUMMARY', text, evidence: own.map(({ id }) => id).slice(-20) };
  return [known ? { ...draft, op: 'UPDATE', id: known.id } : { ...draft, op: 'ADD' }];
}

/** The item of a kind that shares the most words with a text, if it shares any. */
function closest(items: ExtractorInput['items'], kind: string, text: string) {
  const words = wordsOf(text);
  const shared = (item: string): number => [...wordsOf(item)].filter((word) => words.has(word)).length;
  const [best] = items
    .filter((item) => item.kind === kind)
    .toSorted((left, right) => shared(right.text) - shared(left.text));
  return best && shared(best.text) > 1 ? best : undefined;
}

function wordsOf(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[a-z0-9']{3,}|[一-鿿]/g));
}
