/** Patterns of sentences that say nothing about the user: roles, jokes, suppositions, other people. */
import { anyPart, anyWord } from './patterns.ts';

/** A role is given to a model, as in a prompt that was pasted. */
export const ROLES = [
  /\byou(?: are|'re) (?!right|welcome|sure|kidding|not\b)/i,
  anyWord('act as, pretend to be, your role is, roleplay, you must, you always, you never'),
  /你(?:现在|从现在起|永远|就)?是(?!不是|说|否|指|怎么|什么|谁|哪|对|的)/,
  /你(?:永远|必须|只能|一律)|【(?:设定|系统|角色|人设)】/,
  anyPart('扮演,假装你,你的角色'),
];
/** The user speaks of themselves. */
export const SELF = [anyWord("i, i'm, i'd, i've, my, me, we, we're, our"), /我|咱|本人/];

const WISHES = [
  'wants?, would like, likes?, loves?, prefers?, hates?, adores?, insists?, swears?, demands?, enjoys?',
  'thinks?',
].join(', ');
const DOINGS = 'says?, said, always, never, told, believes?, claims?, works?, uses?, writes?';
const THIRD_PERSON =
  'likes|loves|prefers|hates|adores|insists|swears|demands|enjoys|says|said|claims|believes';
const PEOPLE = [
  'boss, colleague, coworker, co-worker, friend, wife, husband, partner, brother, sister, mother, father',
  'mum, mom, dad, son, daughter, client, customer, manager, team ?mate, room ?mate, neighbou?r, deputy',
  'assistant, teacher',
].join(', ');
const WISHES_CHINESE = '说,喜欢,爱,偏好,想要,想,要,觉得,总,每,只,非,嫌,讨厌,认为,坚持,习惯';
const PEOPLE_CHINESE = [
  '老公,老婆,老头子,老伴,妻子,丈夫,爱人,对象,男友,女友,男朋友,女朋友,婆婆,公公,丈母娘,岳父,岳母,爸,妈,爷爷,奶奶,外婆,外公,哥哥',
  '姐姐,弟弟,妹妹,表哥,表姐,表弟,表妹,堂哥,堂姐,堂弟,堂妹,叔叔,阿姨,舅舅,姑姑,儿子,女儿,孩子,闺蜜,朋友,室友,同学',
  '同桌,同事,邻居,老板,领导,主管,总监,经理,组长,客户,甲方,徒弟,师傅,老师,导师,学生,队友,搭档,合伙人,房东',
].join(',');
/** Words between somebody's name and what they wish, without the user among them. */
const BETWEEN = String.raw`(?:(?!(?:i|i'm|i'd|i've|we|we're|we'd)\s)[\w'-]+,? ){0,5}?`;
const PERSON = [
  String.raw`(?:my|our|the|his|her|a|one|some) (?:\w+ )?(?:${anyOf(PEOPLE)})s? ${BETWEEN}`,
  String.raw`(?:he|she|they|someone|somebody|people|everyone|mr|mrs|ms|dr)\.? ${BETWEEN}`,
].join('|');
const OPENINGS = String.raw`^\W*(?:(?:and|but|so|oh|well|by the way),?\s)?`;
/** A name, for which the case counts, and a verb in the third person: "Jo on the day team likes". */
const NAMED = `(?-i:[A-Z][a-z]+) ${BETWEEN}(?:wants|would like|${THIRD_PERSON})\\b`;
const OWN_CHINESE = '(?:我|咱)(?:们|家)?[^。！？，,]{0,6}';
const OTHERS = [
  // "My partner in the practice would like".
  new RegExp(`${OPENINGS}(?:${PERSON}|(?:my|our|his|her) ${BETWEEN})(?:${anyOf(WISHES)})\\b`, 'i'),
  new RegExp(`${OPENINGS}(?:${PERSON})(?:${anyOf(DOINGS)})\\b`, 'i'),
  new RegExp(`${OPENINGS}${NAMED}`, 'i'),
  new RegExp(`${OWN_CHINESE}(?:${anyOf(PEOPLE_CHINESE)})[^。！？，,]{0,6}(?:${anyOf(WISHES_CHINESE)})`),
  /[他她](?:们)?[^。！？，,]{0,3}(?:说|喜欢|爱|想|要|觉得|总|只|非|嫌|讨厌|坚持|给我推)/,
  // Short names such as 老王, 小李, 李姐 and 王工.
  /(?:[老小][\u4e00-\u9fff]|[\u4e00-\u9fff][姐哥总工])[就也还]?(?:说|喜欢|爱|非|只|嫌|坚持|讨厌)/,
];
const QUESTIONS_TO_A_MODEL = /\b(?:would you|do you|does one|did you|should i)\b[^.!?]*\?/i;
const SOURCES =
  /\bthe (?:article|book|author|post|document|text|customer) (?:says?|said|claims?|states?|prefers?)\b/i;
const KEEP = 'remember|memori[sz]e|note|store|save|add|record';
/** Orders to a model to keep something, in text that the user pasted. */
const ORDERS_TO_KEEP = [
  new RegExp(String.raw`\b(?:AI|LLM|chatbot|language model|assistant)s?\b.{0,40}\b(?:${KEEP})\b`, 'i'),
  new RegExp(
    String.raw`\b(?:${KEEP})\b.{0,60}\b(?:(?:to|user(?:'s)?) (?:profile|memory)|th(?:e|is) user)\b`,
    'i',
  ),
  /(?:AI|助手|助理|模型|系统备注).{0,20}(?:记住|记忆|写入|存入|保存)/,
  /(?:存入|写入|保存到|加入).{0,6}(?:记忆|画像|档案)|[该本]用户/,
];

/** The user supposes, asks, or reports what somebody else wishes. */
export const NOT_MEANT = [
  anyWord('if i, what if, suppose, supposing, imagine, assume, assuming, hypothetical, hypothetically'),
  anyWord("let'?s say, say i, pretend, in theory, were i, had i, if we were, in another life"),
  anyPart('如果我,假如,假若,假使,假设,倘若,若是我,万一,要是我,想象一下,设想,比如说我'),
  QUESTIONS_TO_A_MODEL,
  SOURCES,
  ...OTHERS,
  ...ORDERS_TO_KEEP,
];

/** The user was not serious: about this sentence, or about the one before. */
export const JOKES = [
  anyWord(
    'just kidding, kidding, joking, jk, lol, haha*, not really, sarcasm, teasing, a tease, i jest, gotcha',
  ),
  anyWord(
    'pulling your leg, having you on, havin you on, had you there, had you going, winding you up, a joke',
  ),
  /^\W*no, no\b/i,
  anyPart('开玩笑,哈哈,逗你,玩笑,骗你的,瞎编,瞎说,吓到了吧,说笑,胡扯'),
];

function anyOf(list: string): string {
  return list.split(/, ?/).join('|');
}
