/** The words "privacy policy" in a sentence: they open its text over the form, and nothing typed is lost. */
import { lazy, Suspense, useState } from 'react';

const PolicyDialog = lazy(async () => ({ default: (await import('./policy-dialog.tsx')).PolicyDialog }));

/** A button that reads like a link. */
export function PolicyLink({ words }: { words: string }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="font-[550] text-accent underline touch-area"
        onClick={() => setOpen(true)}
      >
        {words}
      </button>
      <Suspense>{open && <PolicyDialog onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
