/** A link in a sentence that opens the privacy policy in a dialog, so that a form keeps its input. */
import { lazy, Suspense, useState } from 'react';
import { loadWords } from '../../i18n.ts';

const PolicyDialog = lazy(async () => {
  const [dialog] = await Promise.all([import('./policy-dialog.tsx'), loadWords(['privacy'])]);
  return { default: dialog.PolicyDialog };
});

/** A button that looks like a link. */
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
