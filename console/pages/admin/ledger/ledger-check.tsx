/** Checks all accounting rules on demand and lists violations. */
import { CircleCheck, CircleX } from 'lucide-react';
import { useState } from 'react';
import { useQuery } from 'urql';
import { Button } from '../../../components/button.tsx';
import { StateWord } from '../../../components/state-word.tsx';
import { Clock } from '../../../components/time.tsx';
import { graphql, type ResultOf } from '../../../graphql.ts';
import { useTranslation } from '../../../translation.ts';
import { Region } from '../region.tsx';

const CheckQuery = graphql(`
  query LedgerCheck {
    admin {
      ledgerCheck {
        checkedAt
        rules {
          rule
          promise
          violations {
            subject
            detail
          }
        }
      }
    }
  }
`);

type Check = NonNullable<ResultOf<typeof CheckQuery>['admin']>['ledgerCheck'];

/** A button, and the result below it. */
export function LedgerCheck() {
  const { t } = useTranslation();
  const [asked, setAsked] = useState(false);
  const [{ data, error, fetching }, again] = useQuery({
    query: CheckQuery,
    pause: !asked,
    requestPolicy: 'network-only',
  });
  const check = () => {
    if (asked) again({ requestPolicy: 'network-only' });
    else setAsked(true);
  };
  return (
    <section className="mb-8 rounded-card border border-line bg-raise p-5">
      <div className="flex flex-wrap items-center justify-between gap-3">
        <div>
          <h2 className="text-section">{t('admin.ledger.check')}</h2>
          <p className="text-ink-2">{t('admin.ledger.checkSentence')}</p>
        </div>
        <Button busy={fetching} onClick={check}>
          {t('admin.ledger.checkButton')}
        </Button>
      </div>
      {asked && (
        <div className="mt-4" aria-live="polite">
          <Region data={data?.admin?.ledgerCheck} error={error} onRetry={check}>
            {(found) => <Found found={found} />}
          </Region>
        </div>
      )}
    </section>
  );
}

function Found({ found }: { found: Check }) {
  const { t } = useTranslation();
  const broken = found.rules.filter(({ violations }) => violations.length > 0);
  const whole = broken.length === 0;
  return (
    <>
      <p className="flex flex-wrap items-center gap-3">
        <StateWord
          chip
          icon={whole ? CircleCheck : CircleX}
          tone={whole ? 'good' : 'bad'}
          word={
            whole
              ? t('admin.ledger.whole', { count: found.rules.length })
              : t('admin.ledger.broken', { count: broken.length })
          }
        />
        <span className="text-ink-3">
          <Clock at={found.checkedAt} />
        </span>
      </p>
      <ul className="mt-3">
        {found.rules.map(({ rule, promise, violations }) => (
          <li key={rule} className="border-t border-line py-1.5 text-table">
            <code className="text-ink-3">{rule}</code> <Promised rule={rule} promise={promise} />
            {violations.map(({ subject, detail }) => (
              <div key={subject + detail} lang="en" className="text-bad">
                <code>{subject}</code> {detail}
              </div>
            ))}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The rules that have words. */
const RULES = [
  ...(['I1', 'I2', 'I3', 'I4', 'I5', 'I6', 'I7'] as const),
  ...(['I8', 'I9', 'I10', 'I11', 'I12', 'I13', 'I14'] as const),
];

/** The guarantee of a rule; in English for a rule of a later release. */
function Promised({ rule, promise }: Pick<Check['rules'][number], 'rule' | 'promise'>) {
  const { t } = useTranslation();
  const known = RULES.find((one) => one === rule);
  return known ? t(`admin.ledger.rules.${known}`) : <span lang="en">{promise}</span>;
}
