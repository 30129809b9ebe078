/** What may be sent from the Playground, and the request that becomes of it. */
import { UserFailure } from '../errors.ts';
import type { Attachment, MessageRole } from './conversation.entity.ts';
import type { MessageView } from './live-reply.ts';

const CONTENT_CHARACTERS_MAX = 200_000;
const HISTORY_TURNS_MAX = 400;
const HISTORY_CHARACTERS_MAX = 1_000_000;
const ATTACHMENTS_MAX = 4;
const ATTACHMENT_CHARACTERS_MAX = 1_400_000;
const PICTURE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** One message of what came before. */
export interface Turn {
  role: MessageRole;
  content: string;
  attachments?: Attachment[] | null;
}

/** Throws INVALID unless there is something to send, and not too much. */
export function checkContent(content: string, hasAttachments: boolean): void {
  if (!content.trim() && !hasAttachments)
    throw new UserFailure('REQUIRED', 'Write a message first.', 'content');
  if (content.length > CONTENT_CHARACTERS_MAX)
    throw new UserFailure('LIMIT_REACHED', `At most ${CONTENT_CHARACTERS_MAX} characters.`, 'content');
  if (content.includes('\0')) throw new UserFailure('INVALID', 'Remove the NUL characters.', 'content');
}

/** Throws INVALID or LIMIT_REACHED unless these are a few pictures of a usual kind. */
export function checkAttachments(attachments: readonly Attachment[]): Attachment[] {
  if (attachments.length > ATTACHMENTS_MAX)
    throw new UserFailure('LIMIT_REACHED', `At most ${ATTACHMENTS_MAX} pictures.`, 'attachments');
  return attachments.map(({ mimeType, dataBase64 }) => {
    if (!PICTURE_TYPES.has(mimeType))
      throw new UserFailure('INVALID', 'Only PNG, JPEG, WebP and GIF pictures.', 'attachments');
    if (dataBase64.length > ATTACHMENT_CHARACTERS_MAX)
      throw new UserFailure('LIMIT_REACHED', 'A picture has at most 1 MB.', 'attachments');
    if (!BASE64.test(dataBase64))
      throw new UserFailure('INVALID', 'A picture is not in base64.', 'attachments');
    return { mimeType, dataBase64 };
  });
}

/** Throws LIMIT_REACHED or INVALID unless this may go along. */
export function checkHistory(history: readonly Turn[]): Turn[] {
  const characters = history.reduce((sum, turn) => sum + turn.content.length, 0);
  if (history.length > HISTORY_TURNS_MAX || characters > HISTORY_CHARACTERS_MAX)
    throw new UserFailure('LIMIT_REACHED', 'This chat is too long. Start a new one.', 'history');
  return history.map((turn) => ({ ...turn, attachments: checkAttachments(turn.attachments ?? []) }));
}

/** The messages from the beginning to this one along its branch, without what failed. */
export function pathTo(messages: readonly MessageView[], id: string | null): Turn[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: MessageView[] = [];
  for (let at = id === null ? undefined : byId.get(id); at; at = byId.get(at.parentId ?? ''))
    path.unshift(at);
  return path.filter((message) => message.role === 'USER' || message.content !== '');
}

/** The body of a chat-completions request. */
export function requestBody(model: string, turns: readonly Turn[]): string {
  return JSON.stringify({ model, stream: true, messages: turns.map(toMessage) });
}

function toMessage({ role, content, attachments }: Turn) {
  const pictures = attachments ?? [];
  if (role === 'ASSISTANT' || pictures.length === 0) return { role: role.toLowerCase(), content };
  const parts = pictures.map(({ mimeType, dataBase64 }) => ({
    type: 'image_url',
    image_url: { url: `data:${mimeType};base64,${dataBase64}` },
  }));
  return { role: 'user', content: [...(content ? [{ type: 'text', text: content }] : []), ...parts] };
}
