/** Dialog that forgets a node which will not return: the credit of its leases goes back to the wallets. */
import { useMutation } from 'urql';
import { graphql } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { UserErrorFields } from '../../answer-fields.ts';
import { FormDialog } from '../form-dialog.tsx';
import type { AdminNode } from './documents.ts';

const ForgetNode = graphql(
  `
    mutation ForgetNode($input: AdminReasonInput!) {
      adminNodeForget(input: $input) {
        node {
          id
          state
          retired
          leases
          held
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** The dialog. It states what is lost. */
export function ForgetDialog({ node, onClose }: { node: AdminNode; onClose: () => void }) {
  const { t } = useTranslation();
  const [, forget] = useMutation(ForgetNode);
  const { id, name } = node;
  return (
    <FormDialog
      title={t('admin.nodes.forgetTitle', { name })}
      sentence={t('admin.nodes.forgetSentence')}
      button={t('admin.nodes.forget')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await forget({ input: { id, reason } });
        return { error, userErrors: data?.adminNodeForget.userErrors };
      }}
    />
  );
}
