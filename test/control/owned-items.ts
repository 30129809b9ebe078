/** Creates an item of Personal Intelligence for tests. */
import { contentKeysOf } from '../../control-plane/intelligence/open-keys.ts';
import { noteLearned } from '../../control-plane/intelligence/learned.service.ts';
import { addSources, insertItem } from '../../control-plane/intelligence/item.rows.ts';
import type { TestApp } from './app.ts';

/** An item of the user, learned from a stored message, with its notice. Returns its id. */
export async function createOwnedItem(
  test: Pick<TestApp, 'orm' | 'settings'>,
  userId: string,
  { conversationId, messageId }: { conversationId: string; messageId: string },
): Promise<string> {
  const em = test.orm.em.fork();
  const key = await contentKeysOf(test).of(userId);
  const item = {
    userId,
    kind: 'PREFERENCE_PROFILE',
    text: 'Likes short answers',
    origin: 'DERIVED',
  } as const;
  const id = await insertItem(em, key, item);
  if (!id) throw new Error('The user has this item already.');
  await addSources(em, id, { conversationId, messageIds: [messageId] });
  await noteLearned(em, key, { id, userId, replaced: 'Likes long answers' });
  return id;
}
