/** Encrypts the texts and pictures of stored chats under the key of their user, and decrypts them. */
import type { ContentKey } from '../intelligence/content-keys.ts';
import type { Attachment, ConversationMessageRow, ConversationRow } from './conversation.entity.ts';
import type { MessageView, UsedItem } from './running-reply.ts';

/** The texts of a message that are encrypted together. */
interface MessageTexts {
  content: string;
  reasoning: string | null;
  error: string | null;
  /** Lines about the user in a row of an earlier release, until a job has moved them. */
  usedItems?: UsedItem[];
}

/** Decrypts the title of a chat. Empty if the key was destroyed or lost. */
export function titleOf(
  row: Pick<ConversationRow, 'id' | 'title' | 'titleSealed'>,
  key?: ContentKey,
): string {
  if (!row.titleSealed) return row.title;
  return (key?.openIfOwn(row.id, row.titleSealed) as string | undefined) ?? '';
}

/** Encrypts the texts of a message. */
export function sealTexts(
  key: ContentKey,
  { id, content, reasoning, error }: Pick<MessageView, 'id' | 'content' | 'reasoning' | 'error'>,
): Buffer {
  // A control plane of an earlier release, which runs beside this one during an upgrade, needs the list.
  return key.seal(id, { content, reasoning, error, usedItems: [] } satisfies MessageTexts);
}

/** Encrypts the pictures of a message; null without pictures. */
export function sealPictures(key: ContentKey, { id, attachments }: Pick<MessageView, 'id' | 'attachments'>) {
  return attachments.length === 0 ? null : key.seal(picturesId(id), attachments);
}

/** Decrypts the texts of a message. Empty if the key was destroyed or lost. */
export function textsOf(
  row: Pick<ConversationMessageRow, 'id' | 'sealed' | 'content' | 'reasoning' | 'error'>,
  key?: ContentKey,
): MessageTexts {
  const { content, reasoning, error } = row;
  if (!row.sealed) return { content, reasoning: reasoning ?? null, error: error ?? null };
  const opened = key?.openIfOwn(row.id, row.sealed) as MessageTexts | undefined;
  return opened ?? { content: '', reasoning: null, error: null };
}

/** Decrypts the pictures of a message. None if the key was destroyed or lost. */
export function picturesOf(
  row: Pick<ConversationMessageRow, 'id' | 'picturesSealed' | 'attachments'>,
  key?: ContentKey,
): Attachment[] {
  if (!row.picturesSealed) return row.attachments;
  return (key?.openIfOwn(picturesId(row.id), row.picturesSealed) as Attachment[] | undefined) ?? [];
}

/** Texts and pictures of a message are bound to different names, so that they cannot be exchanged. */
function picturesId(id: string): string {
  return `${id} pictures`;
}
