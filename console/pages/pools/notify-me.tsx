/** Requests one mail for when the storefront opens, or cancels the request. */
import { Bell, BellOff } from 'lucide-react';
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';

const PreferenceQuery = graphql(`
  query StorefrontNotification {
    signInOptions {
      mail
    }
    viewer {
      id
      notificationPreferences {
        storefrontOpening
      }
    }
  }
`);

const SetPreference = graphql(
  `
    mutation SetStorefrontNotification($input: ProfileUpdateInput!) {
      profileUpdate(input: $input) {
        viewer {
          id
          notificationPreferences {
            storefrontOpening
          }
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** The button, and a confirmation. Nothing if the gateway sends no mail. */
export function NotifyMe() {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: PreferenceQuery });
  const [{ fetching }, send] = useMutation(SetPreference);
  const failureWords = useFailureWords();
  const toast = useToast();
  if (!data?.viewer || !data.signInOptions.mail) return null;
  const requested = data.viewer.notificationPreferences.storefrontOpening;
  const toggle = async () => {
    const answer = await send({ input: { notifications: { storefrontOpening: !requested } } });
    const reason = failureWords(answer.error, answer.data?.profileUpdate.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
  };
  const Icon = requested ? BellOff : Bell;
  return (
    <div className="flex flex-col gap-2">
      <Button
        size="form"
        wide
        busy={fetching}
        icon={<Icon size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => void toggle()}
      >
        {t(requested ? 'purchase.notifyNot' : 'purchase.notify')}
      </Button>
      <p role="status" className="text-hint text-ink-3">
        {requested && t('purchase.notified')}
      </p>
    </div>
  );
}
