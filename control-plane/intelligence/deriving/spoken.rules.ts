/** What a user said in their own voice: a message without quotations, code, pasted prompts and sent items. */
import { anyPart, anyWord } from './patterns.ts';

const SENT_ITEMS = /<user_context\b[^]*?(?:<\/user_context>|$)/gi;
const CODE_BLOCK = /(?:```|~~~)[^]*?(?:```|~~~|$)/g;
const QUOTED_LINE = /^\s*(?:>|\|).*$/gm;
/** Quotations that are longer than a name or a phrase. */
const QUOTATION = /["“„«「『]([^"”“»」』]{25,})["”»」』]/g;
/** Lines of a prompt or a log that was pasted. */
const PASTED_LINE = /^\s*(?:system|assistant|user|human|ai|bot|prompt|系统|助手|提示词)\s*[:：].*$/gim;
const PERSONA = 'you are|act as|pretend to be|your role is|roleplay';
const PERSONA_SENTENCE = new RegExp(`[^.!?\\n。！？]*\\b(?:${PERSONA})\\b[^.!?\\n。！？]*[.!?]?`, 'gi');
const PERSONA_CHINESE = /[^。！？\n]*(?:你是一|扮演|假装你|你的角色)[^。！？\n]*[。！？]?/g;
const NOT_SAID = [
  SENT_ITEMS,
  CODE_BLOCK,
  QUOTED_LINE,
  QUOTATION,
  PASTED_LINE,
  PERSONA_SENTENCE,
  PERSONA_CHINESE,
];

const SENTENCES = /[^.!?\n。！？；;]+[.!?\n。！？；;]*/g;
const OTHERS =
  'boss|colleague|coworker|co-worker|friend|wife|husband|brother|sister|mother|father|client|manager|' +
  'team ?mate|roommate|neighbou?r';
const OTHERS_DO =
  'says?|said|thinks?|prefers?|likes?|loves?|hates?|wants?|works?|uses?|writes?|always|never|told';
const OTHERS_CHINESE = '老板|同事|朋友|妻子|丈夫|老婆|老公|客户|经理|室友|哥哥|姐姐|弟弟|妹妹|妈妈|爸爸';
/** The user supposes, asks, or reports what somebody else said. */
const NOT_MEANT = [
  anyWord(
    "if i, what if, suppose, imagine, assume, assuming, hypothetical, hypothetically, let'?s say, say i",
  ),
  anyWord('pretend, in theory'),
  anyPart('如果我,假如,假设,万一,要是我,想象一下,比如说我'),
  /\b(?:would you|do you|does one|did you|should i)\b[^.!?]*\?/i,
  new RegExp(
    `\\b(?:my (?:${OTHERS})|he|she|they|someone|somebody|people)\\s+(?:\\w+\\s+)?(?:${OTHERS_DO})\\b`,
    'i',
  ),
  /\b(?:the (?:article|book|author|post|document|text|customer)) (?:says?|said|claims?|states?|prefers?)\b/i,
  new RegExp(`我的?(?:${OTHERS_CHINESE})[^。！？]{0,6}(?:说|喜欢|偏好|想要|觉得|总是|每)`),
];
const JOKES = [
  anyWord('just kidding, kidding, joking, jk, lol, haha*, not really, sarcasm'),
  anyPart('开玩笑,哈哈,逗你,玩笑'),
];

/** The message without what the user did not say in their own voice. May be empty. */
export function spokenText(content: string): string {
  return NOT_SAID.reduce((text, pattern) => text.replace(pattern, ' '), content).trim();
}

/** The sentences of a text that the user means. A joke takes back the sentence before it, too. */
export function meantSentences(spoken: string): string[] {
  const sentences = (spoken.match(SENTENCES) ?? []).map((sentence) => sentence.trim()).filter(Boolean);
  const isAny = (patterns: readonly RegExp[], text: string): boolean =>
    patterns.some((pattern) => pattern.test(text));
  return sentences.filter(
    (sentence, at) =>
      !isAny(NOT_MEANT, sentence) && !isAny(JOKES, sentence) && !isAny(JOKES, sentences[at + 1] ?? ''),
  );
}
