/** Validates what users send from the Playground, and builds the chat-completions request. */
import { UserFailure } from '../graphql/errors.ts';
import type { Attachment, MessageRole } from './conversation.entity.ts';
import { parameterMembers } from './reply-settings.ts';
import type { ReplySettings } from './reply-settings.ts';
import type { MessageView } from './running-reply.ts';

const CONTENT_CHARACTERS_MAX = 200_000;
const HISTORY_MESSAGES_MAX = 400;
const HISTORY_CHARACTERS_MAX = 1_000_000;
const ATTACHMENTS_MAX = 4;
const ATTACHMENT_CHARACTERS_MAX = 1_400_000;
const PICTURE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/gif']);
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A message of a prompt. */
export interface PromptMessage {
  role: MessageRole;
  content: string;
  attachments?: Attachment[] | null;
}

/** Throws REQUIRED for an empty message, LIMIT_REACHED for a too long one, INVALID for NUL characters. */
export function checkContent(content: string, hasAttachments: boolean): void {
  if (!content.trim() && !hasAttachments)
    throw new UserFailure('REQUIRED', 'Write a message first.', 'content');
  if (content.length > CONTENT_CHARACTERS_MAX)
    throw new UserFailure(
      'LIMIT_REACHED',
      `Shorten the message to ${CONTENT_CHARACTERS_MAX} characters.`,
      'content',
    );
  if (content.includes('\0'))
    throw new UserFailure('INVALID', 'Remove the NUL characters from the message.', 'content');
}

/** The pictures. Throws LIMIT_REACHED if they are too many or too large, INVALID for other formats. */
export function checkAttachments(attachments: readonly Attachment[]): Attachment[] {
  if (attachments.length > ATTACHMENTS_MAX)
    throw new UserFailure('LIMIT_REACHED', `Attach at most ${ATTACHMENTS_MAX} pictures.`, 'attachments');
  return attachments.map(({ mimeType, dataBase64 }) => {
    if (!PICTURE_TYPES.has(mimeType))
      throw new UserFailure('INVALID', 'Attach only PNG, JPEG, WebP or GIF pictures.', 'attachments');
    if (dataBase64.length > ATTACHMENT_CHARACTERS_MAX)
      throw new UserFailure(
        'LIMIT_REACHED',
        'A picture is larger than 1 MB. Attach a smaller one.',
        'attachments',
      );
    if (!BASE64.test(dataBase64))
      throw new UserFailure('INVALID', 'A picture is not valid base64. Attach it again.', 'attachments');
    return { mimeType, dataBase64 };
  });
}

/** The earlier messages of an unstored chat. Throws LIMIT_REACHED if they are too long, INVALID. */
export function checkHistory(history: readonly PromptMessage[]): PromptMessage[] {
  const characters = history.reduce((sum, message) => sum + message.content.length, 0);
  if (history.length > HISTORY_MESSAGES_MAX || characters > HISTORY_CHARACTERS_MAX)
    throw new UserFailure('LIMIT_REACHED', 'This chat is too long. Start a new one.', 'history');
  return history.map((message) => ({ ...message, attachments: checkAttachments(message.attachments ?? []) }));
}

/** The messages of the branch from the first one to `id`, without replies that have no text. */
export function pathTo(messages: readonly MessageView[], id: string | null): PromptMessage[] {
  const byId = new Map(messages.map((message) => [message.id, message]));
  const path: MessageView[] = [];
  for (let at = id === null ? undefined : byId.get(id); at; at = byId.get(at.parentId ?? ''))
    path.unshift(at);
  return path.filter((message) => message.role === 'USER' || message.content !== '');
}

interface BodyOptions {
  /** Lines about the user, after the system prompt. */
  aboutUser?: string | undefined;
  settings?: ReplySettings;
}

/** Body of the chat-completions request as JSON. System prompt and lines about the user are one message. */
export function requestBody(
  model: string,
  prompt: readonly PromptMessage[],
  { aboutUser = '', settings = {} }: BodyOptions = {},
): string {
  const text = [settings.systemPrompt?.trim() ?? '', aboutUser].filter((part) => part !== '').join('\n\n');
  const system = text === '' ? [] : [{ role: 'system', content: text }];
  const messages = [...system, ...prompt.map(toMessage)];
  return JSON.stringify({ model, stream: true, messages, ...parameterMembers(settings) });
}

function toMessage({ role, content, attachments }: PromptMessage) {
  const pictures = attachments ?? [];
  if (role === 'ASSISTANT' || pictures.length === 0) return { role: role.toLowerCase(), content };
  const parts = pictures.map(({ mimeType, dataBase64 }) => ({
    type: 'image_url',
    image_url: { url: `data:${mimeType};base64,${dataBase64}` },
  }));
  return { role: 'user', content: [...(content ? [{ type: 'text', text: content }] : []), ...parts] };
}
