/**
 * LoCoMo (Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", 2024) with the
 * corrections of its evidence by the LoCoMo audit: summaries of chats, and questions about them. The data is
 * next to the checkout, where it exists; it is used for evaluation only.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'shared', 'memory');
const DATA = join(FOLDER, 'locomo10.json');
/** Category of questions about facts that no chat contains. They have no right chat. */
const UNANSWERABLE = 5;

/** Summaries of the chats of two people, by the number of the chat, and questions about them. */
export interface LocomoDialogue {
  summaries: Map<number, string>;
  questions: { text: string; sessions: Set<number> }[];
}

interface RawDialogue {
  session_summary: Record<string, string>;
  qa: { question: string; evidence?: string[]; category: number }[];
}

/** Whether the data is there. */
export function hasLocomo(): boolean {
  return existsSync(DATA);
}

/** The ten dialogues. Questions without evidence are left out. */
export function readLocomo(): LocomoDialogue[] {
  const raw = JSON.parse(readFileSync(DATA, 'utf8')) as RawDialogue[];
  const errors = JSON.parse(readFileSync(join(FOLDER, 'locomo-errors.json'), 'utf8')) as {
    question_id: string;
    correct_evidence?: string[];
  }[];
  const corrections = new Map(errors.map((error) => [error.question_id, error.correct_evidence ?? []]));
  return raw.map((dialogue, at) => ({
    summaries: new Map(
      Object.entries(dialogue.session_summary).map(([name, text]) => [numberIn(name), text]),
    ),
    questions: dialogue.qa.flatMap(({ question, evidence = [], category }, position) => {
      const corrected = corrections.get(`locomo_${at}_qa${position}`) ?? [];
      const sessions = sessionsOf(corrected.length > 0 ? corrected : evidence);
      return category === UNANSWERABLE || sessions.size === 0 ? [] : [{ text: question, sessions }];
    }),
  }));
}

/** Chats of evidence such as "D3:11" or "D8:6; D9:17". */
function sessionsOf(evidence: readonly string[]): Set<number> {
  return new Set([...evidence.join(' ').matchAll(/D(\d+):/g)].map(([, number]) => Number(number)));
}

function numberIn(name: string): number {
  return Number(/\d+/.exec(name)?.[0]);
}
