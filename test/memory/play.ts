/** Plays a dialogue against the control plane: every message is sent and every chat is read. */
import { query, sql } from '../../control-plane/database/sql.ts';
import { PERSONAL_KINDS } from '../../control-plane/intelligence/switch.entity.ts';
import type { PersonalKind } from '../../control-plane/intelligence/switch.entity.ts';
import type { TestApp } from '../control/app.ts';
import type { Dialogue, Session } from './dialogues.ts';
import type { FakeDataPlane } from './fake-data-plane.ts';
import { Learner, readChats } from './learner.ts';
import type { Item } from './learner.ts';

const BLOCK = /<user_context\b[^]*?<\/user_context>/;

/** A control plane and the data plane that answers its chats. */
export interface Stage {
  test: TestApp;
  dataPlane: FakeDataPlane;
  /** Announces the chat that is read next; its number is counted from 1. */
  read(dialogue: Dialogue, session: number): void;
}

/** Stored items after the last chat. */
export interface Played {
  dialogue: Dialogue;
  items: Item[];
  /** Ids of the chats, in order. */
  chats: string[];
  /** Items that rest on a message which the user did not write. */
  withoutEvidence: number;
}

/** Plays all chats of a dialogue as a new user with these switches on. */
export async function playDialogue(
  stage: Stage,
  dialogue: Dialogue,
  kinds: readonly PersonalKind[] = PERSONAL_KINDS,
): Promise<Played> {
  const { test } = stage;
  const learner = await newLearner(test, kinds);
  const userId = await learner.id();
  const chats: string[] = [];
  let today = 0;
  for (const [at, session] of dialogue.sessions.entries()) {
    await passDays(test, userId, session.day - today);
    today = session.day;
    stage.read(dialogue, at + 1);
    chats.push(await playSession(stage, learner, session));
  }
  const items = await learner.items();
  return { dialogue, items, chats, withoutEvidence: await countUnsupported(test, userId) };
}

let learners = 0;

/** A new user with these switches on. */
export async function newLearner(test: TestApp, kinds: readonly PersonalKind[]): Promise<Learner> {
  learners += 1;
  // All of them register from one address, which is limited.
  await query(test.orm.em.fork(), sql`delete from attempt_window`);
  const learner = new Learner(test, await test.user(`learner-${learners}@example.com`));
  await learner.turn(kinds, true);
  return learner;
}

/** Plays one chat, and reads it. Returns its id. */
export async function playSession(stage: Stage, learner: Learner, session: Session): Promise<string> {
  const { test, dataPlane } = stage;
  const chat = await learner.chat();
  let lines: { text: string }[] = [];
  for (const { user, assistant } of session.turns) {
    dataPlane.reply = ({ messages }) => {
      const system = messages.find(({ role }) => role === 'system')?.content ?? '';
      return assistant.replaceAll('{block}', BLOCK.exec(system)?.[0] ?? '');
    };
    const listed = lines.map(({ text }) => `- ${text}`).join('\n');
    lines = await learner.say(chat, user.replaceAll('{items}', listed));
  }
  await readChats(test);
  return chat;
}

/** Lets days pass for the items of a user: moves their times into the past. */
async function passDays(test: TestApp, userId: string, days: number): Promise<void> {
  await query(
    test.orm.em.fork(),
    sql`update personal_item set first_seen_at = first_seen_at - ${days} * interval '1 day',
        last_seen_at = last_seen_at - ${days} * interval '1 day',
        expires_at = expires_at - ${days} * interval '1 day'
      where user_id = ${userId}`,
  );
}

/** Learned items without a message of the user among their sources. */
async function countUnsupported(test: TestApp, userId: string): Promise<number> {
  const rows = await query(
    test.orm.em.fork(),
    sql`select 1 from personal_item i where i.user_id = ${userId} and i.origin = 'DERIVED' and (
        not exists (select from personal_item_source s where s.item_id = i.id) or exists (
          select from personal_item_source s join conversation_message m on m.id = s.message_id
          where s.item_id = i.id and m.role <> 'USER'))`,
  );
  return rows.length;
}
