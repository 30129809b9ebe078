/** The message of a toast. */

export interface ToastMessage {
  text: string;
  failed?: boolean;
  /** A button beside the text, such as Undo. */
  action?: { word: string; run: () => void };
}
