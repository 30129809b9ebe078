/** Asks for one mail when the storefront opens again, or calls it off. */
import { Bell, BellOff } from 'lucide-react';
import { useMutation, useQuery } from 'urql';
import { Button } from '../../components/button.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';

const WishQuery = graphql(`
  query StorefrontWish {
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

const SetWish = graphql(
  `
    mutation SetStorefrontWish($input: ProfileUpdateInput!) {
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

/** The button, and what holds once it was pressed; nothing where no mail is sent. */
export function NotifyMe() {
  const { t } = useTranslation();
  const [{ data }] = useQuery({ query: WishQuery });
  const [{ fetching }, send] = useMutation(SetWish);
  const failureWords = useFailureWords();
  const toast = useToast();
  if (!data?.viewer || !data.signInOptions.mail) return null;
  const wished = data.viewer.notificationPreferences.storefrontOpening;
  const turn = async () => {
    const answer = await send({ input: { notifications: { storefrontOpening: !wished } } });
    const reason = failureWords(answer.error, answer.data?.profileUpdate.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
  };
  const Icon = wished ? BellOff : Bell;
  return (
    <div className="flex flex-col gap-2">
      <Button
        size="form"
        wide
        busy={fetching}
        icon={<Icon size={16} strokeWidth={1.75} aria-hidden="true" />}
        onClick={() => void turn()}
      >
        {t(wished ? 'purchase.notifyNot' : 'purchase.notify')}
      </Button>
      <p role="status" className="text-hint text-ink-3">
        {wished && t('purchase.notified')}
      </p>
    </div>
  );
}
