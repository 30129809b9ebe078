/** The four switches of Personal Intelligence, and whether chats are stored. */
import { clsx } from 'clsx';
import { Archive, EyeOff, ListTodo, Repeat, ScrollText, SlidersHorizontal } from 'lucide-react';
import { useMutation, useQuery } from 'urql';
import { Banner } from '../../components/notice.tsx';
import { useToast } from '../../components/toast.tsx';
import { graphql, type ResultOf } from '../../graphql.ts';
import { useTranslation } from '../../translation.ts';
import { UserErrorFields } from '../answer-fields.ts';
import { useFailureWords } from '../failure-words.ts';
import { useStorageText } from '../playground/storage-text.ts';
import { ProfileFrame } from '../profile/profile-frame.tsx';

const IntelligenceQuery = graphql(`
  query Intelligence {
    viewer {
      id
      email
      personalIntelligence {
        storing
        storedConversationCount
        storageUsed
        switches {
          kind
          enabled
          changedAt
        }
      }
    }
  }
`);

const SwitchSet = graphql(
  `
    mutation SwitchSet($input: PersonalSwitchInput!) {
      personalSwitchSet(input: $input) {
        personalIntelligence {
          storing
        }
        userErrors {
          ...UserErrorFields
        }
      }
    }
  `,
  [UserErrorFields],
);

type Intelligence = NonNullable<ResultOf<typeof IntelligenceQuery>['viewer']>['personalIntelligence'];
type Switch = Intelligence['switches'][number];

const ICONS = {
  DURABLE_ROUTINE: Repeat,
  PREFERENCE_PROFILE: SlidersHorizontal,
  CONVERSATION_SUMMARY: ScrollText,
  WORKING_ON: ListTodo,
} as const;

/** The page, one of the profile's tabs. */
export function PersonalIntelligencePage() {
  const { t } = useTranslation();
  const [{ data, error }, again] = useQuery({ query: IntelligenceQuery, requestPolicy: 'cache-and-network' });
  const refresh = () => again({ requestPolicy: 'network-only' });
  return (
    <ProfileFrame viewer={data?.viewer} error={error} onRetry={refresh}>
      {({ personalIntelligence }) => (
        <section>
          <h2 className="text-section">{t('intelligence.title')}</h2>
          <p className="mt-1 mb-5 text-ink-2">{t('intelligence.sentence')}</p>
          <Switches intelligence={personalIntelligence} onToggled={refresh} />
        </section>
      )}
    </ProfileFrame>
  );
}

function Switches({ intelligence, onToggled }: { intelligence: Intelligence; onToggled: () => void }) {
  const { t } = useTranslation();
  const { storing, switches, storedConversationCount: count, storageUsed } = intelligence;
  const storageText = useStorageText()(storageUsed);
  const on = switches.filter((item) => item.enabled).length;
  const Icon = storing ? Archive : EyeOff;
  return (
    <>
      <Banner tone="quiet" icon={<Icon size={16} strokeWidth={1.75} aria-hidden="true" />}>
        <strong className="font-semibold">
          {storing ? t('intelligence.storing', { count: on }) : t('intelligence.notStoring')}
        </strong>{' '}
        {storing && t('intelligence.storingMore')} {count > 0 && t('intelligence.kept', { count })}{' '}
        {storageText}
      </Banner>
      <ul className="mt-5 grid grid-cols-2 gap-4 max-lg:grid-cols-1">
        {switches.map((item) => (
          <SwitchCard key={item.kind} item={item} onToggled={onToggled} />
        ))}
      </ul>
    </>
  );
}

function SwitchCard({ item: { kind, enabled }, onToggled }: { item: Switch; onToggled: () => void }) {
  const { t } = useTranslation();
  const [{ fetching }, send] = useMutation(SwitchSet);
  const words = useFailureWords();
  const toast = useToast();
  const Icon = ICONS[kind];
  const toggle = async (on: boolean) => {
    const { data, error } = await send({ input: { kind, enabled: on } });
    const reason = words(error, data?.personalSwitchSet.userErrors);
    if (reason !== undefined) toast({ text: reason, failed: true });
    onToggled();
  };
  return (
    <li className={clsx('rounded-card border border-line p-5', enabled ? 'bg-raise' : 'bg-canvas')}>
      <label className="flex items-center gap-3 touch:-my-3 touch:min-h-11">
        <Icon
          size={16}
          strokeWidth={1.75}
          className={enabled ? 'text-accent' : 'text-ink-2'}
          aria-hidden="true"
        />
        <span className="flex-1 font-semibold">{t(`intelligence.kinds.${kind}`)}</span>
        <span className="text-table text-ink-2" aria-hidden="true">
          {t(enabled ? 'intelligence.on' : 'intelligence.off')}
        </span>
        <input
          type="checkbox"
          role="switch"
          className="switch"
          checked={enabled}
          disabled={fetching}
          onChange={(event) => void toggle(event.target.checked)}
        />
      </label>
      <p className="mt-1 pl-7 text-ink-2 touch:relative touch:mt-1.5">{t(`intelligence.meanings.${kind}`)}</p>
    </li>
  );
}
