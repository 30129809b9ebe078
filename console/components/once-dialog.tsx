/**
 * A dialog for a secret that is shown once. The dialog asks before it closes, unless the user has ticked that
 * the secret is stored.
 */
import { type ReactNode, useEffect, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Checkbox } from './field.tsx';

/** The texts of the dialog. */
export interface OnceWords {
  title: string;
  /** Below the title. */
  sentence: string;
  /** Label of the box that the user ticks. */
  stored: string;
  done: string;
  /** Shown if Done is pressed before the box is ticked. */
  notYet: string;
  /** Title of the dialog that asks before closing. */
  guardTitle: string;
  guardSentence: string;
  /** Returns to the secret. */
  back: string;
  closeAnyway: string;
}

interface OnceProps {
  words: OnceWords;
  onClose: () => void;
  children: ReactNode;
}

/** Shows the secret, and a second dialog that asks if the user closes before the box is ticked. */
export function OnceDialog({ words, onClose, children }: OnceProps) {
  const [isStored, setStored] = useState(false);
  const [isConfirmingClose, setConfirmingClose] = useState(false);
  useLeaveGuard(!isStored);
  return (
    <>
      <Dialog
        open
        wide
        onClose={() => (isStored ? onClose() : setConfirmingClose(true))}
        title={words.title}
        sentence={words.sentence}
        footer={<StoredFooter {...{ words, isStored, setStored, onClose }} />}
      >
        {children}
      </Dialog>
      {isConfirmingClose && (
        <CloseGuard words={words} onBack={() => setConfirmingClose(false)} onLeave={onClose} />
      )}
    </>
  );
}

interface FooterProps extends Omit<OnceProps, 'children'> {
  isStored: boolean;
  setStored: (isStored: boolean) => void;
}

// The Done button is always enabled. If it is pressed before the box is ticked, a hint says what is missing.
function StoredFooter({ words, isStored, setStored, onClose }: FooterProps) {
  const [early, setEarly] = useState(false);
  const hint = early && !isStored ? <span className="text-bad">{words.notYet}</span> : undefined;
  return (
    <>
      <div className="mr-auto">
        <Checkbox
          label={words.stored}
          checked={isStored}
          hint={hint}
          onChange={(event) => setStored(event.target.checked)}
        />
      </div>
      <Button variant="primary" size="form" onClick={() => (isStored ? onClose() : setEarly(true))}>
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

// Reloading or closing the tab would also lose the secret, so the browser asks first.
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
