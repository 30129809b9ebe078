/** Signs in with email and password and, if an app is set up, with its code. */
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useMutation } from 'urql';
import { graphql } from '../../graphql.ts';
import { useSession } from '../../session.tsx';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { destination } from './next.ts';

const SignIn = graphql(
  `
    mutation SignIn($input: SignInInput!) {
      signIn(input: $input) {
        viewer {
          id
        }
        secondFactorRequired
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

export interface SignInForm {
  email: string;
  password: string;
  code: string;
  stay: boolean;
}

const TOTP_CODE = /^\d{6}$/;

/** The typed second factor: a code from the app, or a recovery code; empty if nothing was typed. */
export function secondFactorOf(typed: string): { totpCode?: string; recoveryCode?: string } {
  const code = typed.trim();
  if (code === '') return {};
  return TOTP_CODE.test(code) ? { totpCode: code } : { recoveryCode: code };
}

/** Returns a function that finishes sign-in: drops cached data and opens the page at `next`. */
export function useEntering(next: string | undefined): () => Promise<void> {
  const { changed } = useSession();
  const navigate = useNavigate();
  return () => {
    changed();
    return navigate({ href: destination(next), replace: true });
  };
}

/** Sends an already signed-in visitor to the page at `next`. */
export function useSendOn(signedIn: boolean, next: string | undefined): void {
  const navigate = useNavigate();
  useEffect(() => {
    if (signedIn) void navigate({ href: destination(next), replace: true });
  }, [signedIn, next, navigate]);
}

/** State and submit function of the sign-in form. */
export function useSignIn(next: string | undefined) {
  const [{ fetching }, signIn] = useMutation(SignIn);
  const [failure, setFailure] = useState<string>();
  const [second, setSecond] = useState(false);
  const failureWords = useFailureWords();
  const enter = useEntering(next);
  const isSending = useRef(false);
  const signInOnce = async ({ email, password, code, stay }: SignInForm) => {
    const factor = second ? secondFactorOf(code) : {};
    const { data, error } = await signIn({
      input: { email: email.trim(), password, rememberMe: stay, ...factor },
    });
    if (data?.signIn.viewer) return enter();
    const needsFactor = data?.signIn.secondFactorRequired === true && !second;
    if (needsFactor) setSecond(true);
    setFailure(needsFactor ? undefined : failureWords(error, data?.signIn.userErrors));
  };
  // A form that was sent before its script arrived can be sent again in the same moment.
  const send = async (form: SignInForm) => {
    if (isSending.current) return;
    isSending.current = true;
    await signInOnce(form).finally(() => {
      isSending.current = false;
    });
  };
  return { failure, second, fetching, send };
}
