/** Pictures made small enough to be sent, on this page, before anything leaves it. */
import type { Picture } from './documents.ts';

const SIDE_MAX = 1280;
const QUALITY = 0.82;
const BASE64_MAX = 400_000;
export const PICTURES_MAX = 4;

/** The file as a picture to send, or undefined where the browser cannot read it as one. */
export async function pictureOf(file: File): Promise<Picture | undefined> {
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.min(1, SIDE_MAX / Math.max(bitmap.width, bitmap.height));
    for (let size = scale; size > scale / 8; size /= 1.5) {
      const picture = await drawn(bitmap, size);
      if (picture && picture.dataBase64.length <= BASE64_MAX) return picture;
    }
  } catch {
    // Not a picture.
  }
  return undefined;
}

/** The address of a picture for an img element. */
export function addressOf({ mimeType, dataBase64 }: Picture): string {
  return `data:${mimeType};base64,${dataBase64}`;
}

async function drawn(bitmap: ImageBitmap, scale: number): Promise<Picture | undefined> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  // JPEG knows no transparency: what shines through is white, as on paper.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const [, dataBase64] = canvas.toDataURL('image/jpeg', QUALITY).split(',');
  return dataBase64 === undefined ? undefined : { mimeType: 'image/jpeg', dataBase64 };
}
