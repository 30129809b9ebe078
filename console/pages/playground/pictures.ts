/** Pictures of messages. */
import type { Picture } from './documents.ts';

/** Maximum number of pictures in a message. */
export const PICTURES_MAX = 4;

/** A data: URL of a picture, for an img element. */
export function addressOf({ mimeType, dataBase64 }: Picture): string {
  return `data:${mimeType};base64,${dataBase64}`;
}
