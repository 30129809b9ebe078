/** Finds a user's own words: a message without quotations, code, pasted prompts and sent items. */
import { JOKES, NOT_MEANT, ROLES, SELF } from './speech.patterns.ts';

const SENT_ITEMS = /<user_context\b[^]*?(?:<\/user_context>|$)/gi;
/** Comments of web pages, which readers do not see. */
const HIDDEN = /<!--[^]*?(?:-->|$)/g;
const CODE_BLOCK = /(?:```|~~~)[^]*?(?:```|~~~|$)/g;
const QUOTED_LINE = /^\s*(?:>|\|).*$/gm;
const OPENING_MARKS = '"“„«「『';
const CLOSING_MARKS = '"”»」』';
/** A shorter quotation is a name or a phrase. The marks of a longer one do not belong together. */
const QUOTATION_LENGTH = { min: 25, max: 2_000 };
/** Lines of a prompt or a log that was pasted. */
const PASTED_LINE = /^\s*(?:system|assistant|user|human|ai|bot|prompt|系统|助手|提示词)\s*[:：].*$/gim;
const NOT_SAID = [SENT_ITEMS, HIDDEN, CODE_BLOCK, QUOTED_LINE];

const SENTENCES = /[^.!?。！？；;]+[.!?。！？；;]*/g;
/** Maximum length of a spoken sentence in characters. Longer text was pasted. */
const SENTENCE_LENGTH_MAX = 1_000;

/** The message without what the user did not say in their own voice. May be empty. */
export function spokenText(content: string): string {
  const own = withoutQuotations(NOT_SAID.reduce((text, pattern) => text.replace(pattern, ' '), content));
  const left = own.replace(PASTED_LINE, ' ');
  return left.split('\n').map(withoutRoles).join('\n').trim();
}

/** The text without quotations. One pass: a pattern would take quadratic time for many opening marks. */
function withoutQuotations(text: string): string {
  let left = '';
  let kept = 0;
  let end = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (!OPENING_MARKS.includes(text.charAt(at))) continue;
    if (end <= at) end = closingAfter(text, at);
    if (end < 0) break;
    const length = end - at - 1;
    if (length < QUOTATION_LENGTH.min || length > QUOTATION_LENGTH.max) continue;
    left += `${text.slice(kept, at)} `;
    kept = end + 1;
    at = end;
  }
  return left + text.slice(kept);
}

/** Place of the first closing mark after a place; -1 if there is none. */
function closingAfter(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end += 1)
    if (CLOSING_MARKS.includes(text.charAt(end))) return end;
  return -1;
}

/** The sentences of a text that the user means. A joke takes back the sentence before it, too. */
export function meantSentences(spoken: string): string[] {
  const sentences = spoken.split('\n').flatMap(sentencesOf);
  return sentences.filter(
    (sentence, at) =>
      !isAny(NOT_MEANT, sentence) && !isAny(JOKES, sentence) && !isAny(JOKES, sentences[at + 1] ?? ''),
  );
}

/** The line without roles that are given to a model. A role ends where the user speaks of themselves. */
function withoutRoles(line: string): string {
  let isRole = false;
  const own = sentencesOf(line).filter((sentence) => {
    isRole = isAny(ROLES, sentence) || (isRole && !isAny(SELF, sentence));
    return !isRole;
  });
  return own.join(' ');
}

function sentencesOf(line: string): string[] {
  return (line.match(SENTENCES) ?? [])
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== '' && sentence.length <= SENTENCE_LENGTH_MAX);
}

function isAny(patterns: readonly RegExp[], text: string): boolean {
  return patterns.some((pattern) => pattern.test(text));
}
