/** Shrinks pictures in the browser before they are sent. */
import type { Picture } from './documents.ts';

/** Maximum width and height in pixels. */
const SIDE_MAX = 1280;
/** JPEG quality, 0 to 1. */
const QUALITY = 0.82;
/** Maximum size of a picture in base64 characters. */
const BASE64_MAX = 400_000;

/** Converts a file to a picture to send; undefined if the browser cannot read it or it stays too large. */
export async function pictureOf(file: File): Promise<Picture | undefined> {
  try {
    const bitmap = await createImageBitmap(file);
    const scale = Math.min(1, SIDE_MAX / Math.max(bitmap.width, bitmap.height));
    for (let size = scale; size > scale / 8; size /= 1.5) {
      const picture = await drawn(bitmap, size);
      if (picture && picture.dataBase64.length <= BASE64_MAX) return picture;
    }
  } catch {
    // The file is not a picture.
  }
  return undefined;
}

/** Draws the picture at this scale as JPEG. */
async function drawn(bitmap: ImageBitmap, scale: number): Promise<Picture | undefined> {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  const context = canvas.getContext('2d');
  if (!context) return undefined;
  // JPEG has no transparency: transparent areas become white.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const [, dataBase64] = canvas.toDataURL('image/jpeg', QUALITY).split(',');
  return dataBase64 === undefined ? undefined : { mimeType: 'image/jpeg', dataBase64 };
}
