import { Alert, Anchor, Group, List, Paper, Skeleton, Stack, Table, Text, Title } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Schema } from '../../api'
import { nameLanguage } from '../../parts/names'
import { Refusal } from '../../parts/refusal'
import { Time } from '../../parts/time'
import { formatCount, formatDuration, formatMoney, loadWords, plural } from '../../words'
import { type Step, findStep } from './steps'
import type { CampaignDetail, Plan } from './types'

const t = await loadWords('campaigns')

type Fault = Schema['FieldProblem']
type Audience = NonNullable<Plan['audience']>

interface FaultListProps {
  faults: readonly Fault[]
  isWarning?: boolean
  /** Opens the step in which a fault can be mended. */
  go?: ((step: Step) => void) | undefined
}

/** Faults or warnings of a campaign, each with the way to where it can be mended. */
export const FaultList = ({ faults, isWarning = false, go }: FaultListProps) => (
  <Alert
    color={isWarning ? 'yellow' : 'red'}
    variant="outline"
    p="sm"
    icon={<IconAlertTriangle size={18} aria-hidden />}
    title={plural(faults.length, isWarning ? t.warningCount : t.faultCount)}
  >
    <List size="sm" spacing={4}>
      {[...Map.groupBy(faults, ({ code, attr }) => `${code} ${attr?.split('.')[0]}`).values()].map((group) => (
        <FaultItem key={`${group[0]?.code}${group[0]?.attr}`} faults={group} go={go} />
      ))}
    </List>
  </Alert>
)

/** Codes whose text says all. */
const plainCodes: readonly string[] = [
  'required',
  'does_not_exist',
  'wrong_type',
  'no_blocks',
  'sender_unset',
  'channel_mismatch',
  'edition_archived',
  'no_recipients',
  'provider_not_configured',
]

/** A fault of an SMS text is at its language. */
function describeFault({ code, attr, detail }: Fault): string {
  const [, language] = attr?.split('.') ?? []
  if (code === 'untranslated_language' && attr?.startsWith('sms_body.') && language) return nameLanguage(language)
  return plainCodes.includes(code) ? '' : detail
}

/** The faults of one kind. */
function FaultItem({ faults, go }: { faults: readonly Fault[]; go: FaultListProps['go'] }) {
  const [first] = faults
  if (!first) return null
  const details = faults.map(describeFault).filter((detail) => detail !== '')
  const isShort = details.every((detail) => detail.length < 24)
  return (
    <List.Item>
      {t.faults[first.code as keyof typeof t.faults] ?? ''}{' '}
      {isShort ? (
        <Text component="span" size="sm" c="dimmed">
          {details.join(', ')}
        </Text>
      ) : (
        details.map((detail) => (
          <Text key={detail} size="sm" c="dimmed" className="break">
            {detail}
          </Text>
        ))
      )}{' '}
      <FaultLink fault={first} go={go} />
    </List.Item>
  )
}

function FaultLink({ fault, go }: { fault: Fault; go: FaultListProps['go'] }) {
  const { edition = '' } = useParams({ strict: false })
  const step = findStep(fault)
  if (fault.attr === 'edition_id')
    return (
      <Link className="link" to="/editions/$edition/settings" params={{ edition }}>
        {t.openSettings}
      </Link>
    )
  if (!go || step === null) return null
  return (
    <Anchor component="button" type="button" size="sm" fw={600} onClick={() => go(step)}>
      {t.mend}
    </Anchor>
  )
}

interface PanelProps {
  campaign: CampaignDetail
  plan: { query: UseQueryResult<Plan>; refusal: string | null }
  go?: (step: Step) => void
}

/** Shows the plan of a start now. */
export function PlanPanel({ campaign, plan: { query, refusal }, go }: PanelProps) {
  return (
    <Paper
      withBorder
      p="md"
      component="section"
      aria-label={t.plan}
      aria-busy={query.isFetching}
      pos={{ md: 'sticky' }}
      top={68}
    >
      <Stack gap="sm">
        <Title order={2} size="h5">
          {t.plan}
        </Title>
        {refusal !== null && (
          <Text size="sm" c="dimmed">
            {refusal}
          </Text>
        )}
        {query.error && <Refusal error={query.error} retry={query.refetch} />}
        {query.isPending && refusal === null && <Skeleton h={220} />}
        {query.data && <PlanContent plan={query.data} campaign={campaign} go={go} />}
      </Stack>
    </Paper>
  )
}

function PlanContent({ plan, campaign, go }: { plan: Plan; campaign: CampaignDetail; go: PanelProps['go'] }) {
  const { audience, faults, warnings } = plan
  return (
    <>
      {audience && <Recipients audience={audience} />}
      {faults.length > 0 && <FaultList faults={faults} go={go} />}
      {audience && <Skipped audience={audience} />}
      {audience && <Languages audience={audience} isSms={campaign.channel === 'sms'} />}
      {audience && <Conditions audience={audience} />}
      <Sending plan={plan} campaign={campaign} />
      {warnings.length > 0 && <FaultList faults={warnings} isWarning go={go} />}
    </>
  )
}

/** The important number: how many people get the message. */
const Recipients = ({ audience: { recipients, people, is_estimate } }: { audience: Audience }) => (
  <div>
    <Group gap={8} align="baseline">
      <Text fz={30} fw={700} lh={1.1} component="span">
        {is_estimate ? `≈ ${formatCount(recipients)}` : formatCount(recipients)}
      </Text>
      <Text component="span">{plural(recipients, t.getIt)}</Text>
    </Group>
    <Text size="sm" c="dimmed">
      {t.ofSegment.replace('#', () => formatCount(people))}
      {is_estimate && ` · ${t.estimate}`}
    </Text>
  </div>
)

/** Counts the people who get nothing, by reason, with examples. With the recipients they are everybody in the segment. */
function Skipped({ audience }: { audience: Audience }) {
  const { skipped_by_reason, sent_before, failed_before } = audience
  const rows: [string, string, number, Audience['skipped_by_reason'][number]['examples']][] = [
    ...skipped_by_reason.map(
      ({ reason, people, examples }) =>
        [reason, t.reasons[reason], people, examples] as [string, string, number, typeof examples],
    ),
    ['sent_before', t.sentBefore, sent_before, []],
    ['failed_before', t.failedBefore, failed_before, []],
  ]
  const visibleRows = rows.filter(([, , people]) => people > 0)
  if (visibleRows.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t.nobodyLeftOut}
      </Text>
    )
  return (
    <div>
      <Text size="sm" fw={600}>
        {t.leftOut}
      </Text>
      {visibleRows.map(([key, label, people, examples]) => (
        <div key={key}>
          <Group justify="space-between" wrap="nowrap" gap="xs" align="start">
            <Text size="sm">{label}</Text>
            <Text size="sm" fw={600} className="numbers">
              {formatCount(people)}
            </Text>
          </Group>
          {examples.length > 0 && (
            <Text size="xs" c="dimmed" className="break">
              {t.suchAs} {examples.map(({ user, address }) => nameExample(user, address)).join(', ')}
            </Text>
          )}
        </div>
      ))}
    </div>
  )
}

const nameExample = (user: Schema['CampaignRecipient']['user'], address: string): string =>
  user.full_name.trim() || address || user.email || user.api_id

/** Counts the recipients by language, also those who get the text of another one. Languages that nobody reads are left out. */
function Languages({ audience, isSms }: { audience: Audience; isSms: boolean }) {
  const rows = audience.languages.filter(({ recipients }) => recipients > 0)
  if (rows.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600}>
        {t.languages}
      </Text>
      <Table withRowBorders={false} verticalSpacing={1} horizontalSpacing={0}>
        <Table.Tbody>
          {rows.map(({ language, text_language, recipients, sms_parts }) => (
            <Table.Tr key={language}>
              <Table.Td>
                {nameLanguage(language)}
                {text_language === null && ` · ${t.noText}`}
                {text_language !== null && text_language !== language && (
                  <Text component="span" size="sm" c="dimmed">
                    {' '}
                    · {t.readsText.replace('#', () => nameLanguage(text_language))}
                  </Text>
                )}
              </Table.Td>
              <Table.Td className="numbers">
                {formatCount(recipients)}
                {isSms && (
                  <Text component="span" size="sm" c="dimmed">
                    {' '}
                    · {plural(sms_parts, t.smsCount)}
                  </Text>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {audience.other_languages.map(({ language, recipients }) => (
        <Text key={language} size="xs" c="dimmed">
          {language === null ? t.unknownLanguage : t.otherLanguage.replace('#', () => nameLanguage(language))}:{' '}
          {plural(recipients, t.people)}
        </Text>
      ))}
    </div>
  )
}

function Conditions({ audience: { conditions } }: { audience: Audience }) {
  if (!conditions || conditions.length === 0) return null
  return (
    <div>
      <Text size="sm" fw={600}>
        {t.conditions}
      </Text>
      {conditions.map(({ condition, recipients }) => (
        <Group key={condition} justify="space-between" wrap="nowrap" gap="xs">
          <Text size="xs" ff="monospace" className="break">
            {condition}
          </Text>
          <Text size="sm" className="numbers">
            {formatCount(recipients)}
          </Text>
        </Group>
      ))}
    </div>
  )
}

/** Shows the cost, the duration, and the earliest start. */
function Sending({ plan: { sending, cost, audience }, campaign }: { plan: Plan; campaign: CampaignDetail }) {
  const isSms = campaign.channel === 'sms'
  if (audience?.recipients === 0) return null
  return (
    <div>
      {isSms && audience && (
        <Text size="sm">
          <b>{plural(audience.sms_parts, t.smsCount)}</b>
          {' · '}
          {cost ? formatMoney(cost.amount, cost.currency) : t.noPrice}
        </Text>
      )}
      {sending && (
        <Text size="sm">
          {t.takes} <b>{formatDuration(sending.seconds)}</b>{' '}
          <Text component="span" size="xs" c="dimmed">
            ({t.callRate.replace('#', () => formatCount(sending.calls_per_second * sending.messages_per_call))})
          </Text>
        </Text>
      )}
      {!sending && audience && (
        <Text size="sm" c="dimmed">
          {t.noProvider}
        </Text>
      )}
      {sending && sending.window_opens_at !== null && (
        <Text size="sm">
          {t.windowOpens} <Time at={sending.window_opens_at} />
        </Text>
      )}
    </div>
  )
}
