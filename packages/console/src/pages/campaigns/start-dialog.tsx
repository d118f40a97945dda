import { Checkbox, List, Stack, Text } from '@mantine/core'
import { api } from '../../api'
import { FormDialog } from '../../parts/form-dialog'
import { useSearchChange } from '../../parts/search-change'
import { Time } from '../../parts/time'
import { formatCount, formatDuration, formatMoney, loadWords, plural } from '../../words'
import { storeCampaign } from './draft'
import { FaultList } from './plan'
import { usePlan } from './steps'
import type { CampaignDetail, Plan } from './types'

const t = await loadWords('campaigns')

interface Props {
  campaign: CampaignDetail
  /** The instant of the start. Null: now. */
  at: string | null
  isOpen: boolean
  close: () => void
}

/** Says whom a start reaches, and starts or schedules the campaign. */
export function StartDialog({ campaign, at, isOpen, close }: Props) {
  const { query } = usePlan(campaign.id, isOpen)
  const change = useSearchChange()
  const plan = query.data
  const translations = plan?.faults.filter(({ code }) => code === 'missing_translation') ?? []
  const others = plan?.faults.filter(({ code }) => code !== 'missing_translation') ?? []
  const params = { path: { id: campaign.id } }
  return (
    <FormDialog
      title={at === null ? t.sendNow : t.schedule}
      isOpen={isOpen}
      close={close}
      initialValues={{ isAccepted: false }}
      canSubmit={({ isAccepted }) =>
        plan !== undefined && others.length === 0 && (isAccepted || translations.length === 0)
      }
      submitLabel={at === null ? plural(plan?.audience?.recipients ?? 0, t.sendTo) : t.schedule}
      done={at === null ? t.started : t.scheduled}
      send={async ({ isAccepted }, headers) => {
        const accept = isAccepted ? { accept: ['missing_translations' as const] } : {}
        return at === null
          ? api.POST('/v1/campaigns/{id}/send-now', { params, headers, body: accept })
          : api.POST('/v1/campaigns/{id}/schedule', { params, headers, body: { ...accept, scheduled_at: at } })
      }}
      onSent={(answer) => {
        storeCampaign(answer)
        change.set({ step: undefined })
      }}
    >
      {(form) => (
        <Stack gap="sm">
          {plan && <Consequences plan={plan} campaign={campaign} at={at} />}
          {others.length > 0 && <FaultList faults={others} />}
          {translations.length > 0 && (
            <>
              <FaultList faults={translations} isWarning />
              <Checkbox label={t.acceptTranslations} {...form.getInputProps('isAccepted', { type: 'checkbox' })} />
            </>
          )}
        </Stack>
      )}
    </FormDialog>
  )
}

/** Lists the consequences of a start, with numbers. */
function Consequences({ plan, campaign, at }: { plan: Plan; campaign: CampaignDetail; at: string | null }) {
  const { audience, sending, cost } = plan
  if (!audience) return null
  const { recipients, people, is_estimate } = audience
  return (
    <List size="sm" spacing={4}>
      <List.Item>
        <b>
          {is_estimate && '≈ '}
          {plural(recipients, t.people)}
        </b>{' '}
        {at === null ? t.getNow : t.getAt} {at !== null && <Time at={at} />}
        {at !== null && (
          <Text component="span" size="sm" c="dimmed">
            {' '}
            · {t.countedAgain}
          </Text>
        )}
      </List.Item>
      {people > recipients && <List.Item>{plural(people - recipients, t.getNothing)}</List.Item>}
      {campaign.channel === 'sms' && (
        <List.Item>
          {plural(audience.sms_parts, t.smsCount)}
          {cost && ` · ${formatMoney(cost.amount, cost.currency)}`}
        </List.Item>
      )}
      {sending && (
        <List.Item>
          {t.takes} {formatDuration(sending.seconds)}
        </List.Item>
      )}
      {sending && sending.window_opens_at !== null && at === null && (
        <List.Item>
          {t.windowOpens} <Time at={sending.window_opens_at} />
        </List.Item>
      )}
      {campaign.sent_count > 0 && (
        <List.Item>{t.alreadySent.replace('#', () => formatCount(campaign.sent_count))}</List.Item>
      )}
    </List>
  )
}
