/** Finds secrets and special categories of personal data (GDPR, article 9), which are never learned. */
import { anyPart, anyWord } from './patterns.ts';

const SECRETS = [
  /\b(?:sk|pk|rk|ghp|gho|xox[abp]|AKIA|AIza)[-_]?[A-Za-z0-9_-]{12,}/,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
  /\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/,
  anyWord('password, passphrase, passcode, pin, pin code, secret, api key, access token, recovery code'),
  anyWord('seed phrase, security code, cvv'),
  anyPart('密码,口令,验证码,密钥,助记词,银行卡,身份证号'),
  // Account numbers of banks (ISO 13616), social security numbers, Chinese identity numbers.
  /\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b/,
  /\b\d{3}-\d{2}-\d{4}\b/,
  /\b\d{17}[\dXx]\b/,
  // A name for a secret, and a value with a digit or a sign.
  /\b(?:login|log-in|code|key|combination|credentials?|token)\b.{0,40}?\b(?:is|are|was)\b.{0,30}?[\d!@#$%*]/i,
  /(?:key|token|code).{0,6}(?:是|为|[:：]).{0,30}\d/i,
  anyWord('recovery phrase, backup phrase, wifi key'),
  /\bcode \d{4,}/i,
  /[^\s@]+@[^\s@]+\.[a-z]{2,}/i,
  /(?:\+|00)\d[\d ()-]{7,}\d/,
];

const HEALTH = [
  anyWord(
    'diagnos*, diabet*, depressed, depressive, depression, anxiety disorder, cancer, tumo?u?r, hiv, aids',
  ),
  anyWord(
    'pregnan*, miscarriage, bipolar, adhd, autis*, epilep*, asthma*, medication, antidepress*, insulin',
  ),
  anyWord('chemotherap*, therapist, psychiatr*, disabilit*, disabled, disease, illness, allerg*, migraine*'),
  anyWord('infertil*, addict*, alcoholic, hearing aid, deaf, wheelchair, dyslexi*, arthritis, hypertension'),
  anyWord('my surgery, had surgery, having surgery, insomnia, panic attacks, ptsd, ocd, eating disorder'),
  anyWord('pacemaker, thyroid, blood pressure, hospitali[sz]ed, chronic pain, coeliac, celiac'),
  anyWord('my doctor, painkiller*'),
  anyPart(
    '糖尿病,抑郁,焦虑症,癌,艾滋,怀孕,流产,双相,自闭,癫痫,哮喘,服药,药物,化疗,心理医生,残疾,过敏,做手术,动手术,确诊',
  ),
  anyPart(
    '高血压,甲减,甲亢,甲状腺,乙肝,肝炎,痛风,失眠,住院,携带者,医生说,备孕,产检,疾病,生病,病情,病史,看病,得病,有病',
  ),
];
const POLITICS = [
  anyWord('vote for, voted, votes for, voting for, republican, democrat, democrats, democratic party'),
  anyWord(
    'labour party, conservative party, green party, communis[mt], socialis[mt], fascis[mt], trade union',
  ),
  anyWord('union member, political, politically, left[- ]wing, right[- ]wing, election campaign'),
  anyPart('投票给,共产党,民主党,共和党,政治,工会,党员,左派,右派,选举'),
];
const RELIGION = [
  anyWord('christian*, catholic*, protestant*, muslim*, islam*, jewish, judaism, hindu*, buddhis*, atheis*'),
  anyWord(
    'mormon*, church, mosque, synagogue, prayer, prayers, praying, pray, religio*, ramadan, bible, quran',
  ),
  anyWord('yom kippur, hanukkah, passover, sabbath, shabbat, kosher, halal, eid, diwali, lent, baptis*'),
  anyWord('rabbi, imam, priest, pastor, rosary, holy communion'),
  anyPart('信佛,念佛,拜佛,吃斋,初一十五,清真,道教,教会,受洗,礼拜堂'),
  anyPart('基督,天主教,穆斯林,伊斯兰,犹太,印度教,佛教,无神论,教堂,清真寺,祈祷,宗教,信仰,斋月,圣经'),
];
const SEXUALITY_AND_ORIGIN = [
  anyWord('gay, lesbian, bisexual*, homosexual*, transgender, queer, sexual*, sex life, ethnic*, racial*'),
  anyPart(
    '同性恋,双性恋,变性,性取向,性生活,种族,民族,回族,回民,藏族,苗族,壮族,满族,维吾尔,蒙古族,朝鲜族,彝族',
  ),
  anyPart('东北人,东北银,籍贯,混血,华裔'),
];
const STREET = 'street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|square';
const ADDRESSES_AND_CONVICTIONS = [
  new RegExp(`\\b\\d{1,5} (?:[A-Z][a-z]+ ){1,3}(?:${STREET})\\b`, 'i'),
  /(?:路|街|大道|胡同|巷)\s*\d+\s*号/,
  anyWord('convicted, conviction, felony, arrested, criminal record, on parole'),
  anyPart('犯罪,被捕,坐牢,前科'),
];
const PATTERNS = [
  ...SECRETS,
  ...HEALTH,
  ...POLITICS,
  ...RELIGION,
  ...SEXUALITY_AND_ORIGIN,
  ...ADDRESSES_AND_CONVICTIONS,
];
const CARD = /\b\d(?:[ -]?\d){12,18}\b/g;

/** Whether a text holds a secret, a card number, or a special category of personal data. */
export function isSensitive(text: string): boolean {
  const plain = text.normalize('NFKC');
  if (PATTERNS.some((pattern) => pattern.test(plain))) return true;
  return [...plain.matchAll(CARD)].some(([digits]) => hasCardChecksum(digits.replaceAll(/\D/g, '')));
}

/** Whether the last digit is the check digit of the Luhn formula (ISO/IEC 7812-1). */
function hasCardChecksum(digits: string): boolean {
  const sum = [...digits].toReversed().reduce((total, digit, at) => {
    const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
