/** A dialog for what is shown once: it closes by itself only when somebody said that it is stored. */
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';

/** What the dialog says; each owner has words of its own. */
export interface OnceWords {
  title: string;
  sentence: string;
  stored: string;
  done: string;
  /** Said when Done is pressed too early. */
  notYet: string;
  guardTitle: string;
  guardSentence: string;
  back: string;
  closeAnyway: string;
}

interface OnceProps {
  words: OnceWords;
  onClose: () => void;
  children: ReactNode;
}

/** The dialog and its close guard. */
export function OnceDialog({ words, onClose, children }: OnceProps) {
  const [stored, setStored] = useState(false);
  const [asked, setAsked] = useState(false);
  useLeaveGuard(!stored);
  return (
    <>
      <Dialog
        open
        wide
        onClose={() => (stored ? onClose() : setAsked(true))}
        title={words.title}
        sentence={words.sentence}
        footer={<StoredFooter {...{ words, stored, setStored, onClose }} />}
      >
        {children}
      </Dialog>
      {asked && <CloseGuard words={words} onBack={() => setAsked(false)} onLeave={onClose} />}
    </>
  );
}

interface FooterProps extends Omit<OnceProps, 'children'> {
  stored: boolean;
  setStored: (stored: boolean) => void;
}

// Done is never disabled: pressed too early it says what is missing.
function StoredFooter({ words, stored, setStored, onClose }: FooterProps) {
  const [early, setEarly] = useState(false);
  const hint = early && !stored ? <span className="text-bad">{words.notYet}</span> : undefined;
  return (
    <>
      <div className="mr-auto">
        <Checkbox
          label={words.stored}
          checked={stored}
          hint={hint}
          onChange={(event) => setStored(event.target.checked)}
        />
      </div>
      <Button variant="primary" size="form" onClick={() => (stored ? onClose() : setEarly(true))}>
        {words.done}
      </Button>
    </>
  );
}

interface GuardProps {
  words: OnceWords;
  onBack: () => void;
  onLeave: () => void;
}

function CloseGuard({ words, onBack, onLeave }: GuardProps) {
  const footer = (
    <>
      <Button variant="destructive" onClick={onLeave}>
        {words.closeAnyway}
      </Button>
      <Button variant="primary" onClick={onBack}>
        {words.back}
      </Button>
    </>
  );
  return (
    <Dialog open onClose={onBack} title={words.guardTitle} footer={footer}>
      <p className="text-ink-2">{words.guardSentence}</p>
    </Dialog>
  );
}

// Reloading or closing the tab would lose the secret as surely as closing the dialog.
function useLeaveGuard(on: boolean): void {
  useEffect(() => {
    if (!on) return;
    const ask = (event: BeforeUnloadEvent) => {
      event.preventDefault();
    };
    addEventListener('beforeunload', ask);
    return () => {
      removeEventListener('beforeunload', ask);
    };
  }, [on]);
}
