/** Asks a node to finish what it has and to end. */
import { useMutation } from 'urql';
import { graphql } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { FormDialog } from './form-dialog.tsx';
import type { AdminNode } from './node-documents.ts';

const DrainNode = graphql(
  `
    mutation DrainNode($input: AdminReasonInput!) {
      adminNodeDrain(input: $input) {
        node {
          id
          state
          retired
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

/** The dialog; it says how much is in flight, or what it means for one that is silent. */
export function DrainDialog({ node, onClose }: { node: AdminNode; onClose: () => void }) {
  const { t } = useTranslation();
  const [, drain] = useMutation(DrainNode);
  const { id, name, inflight, state } = node;
  const isSilent = state === 'OFFLINE';
  return (
    <FormDialog
      title={t('admin.nodes.drainTitle', { name })}
      sentence={
        isSilent ? t('admin.nodes.goneSentence') : t('admin.nodes.drainSentence', { count: inflight })
      }
      button={t('admin.nodes.drain')}
      destructive
      onClose={onClose}
      send={async (_, reason) => {
        const { data, error } = await drain({ input: { id, reason } });
        return { error, userErrors: data?.adminNodeDrain.userErrors };
      }}
    />
  );
}
