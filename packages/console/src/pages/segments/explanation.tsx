import { Alert, Code, Group, List, Stack, Text, ThemeIcon } from '@mantine/core'
import { IconCheck, IconQuestionMark, IconX } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { get, type Schema } from '../../api'
import { useRefusalReason } from '../../caller'
import { CustomerSelect } from '../../parts/customer-select'
import { Empty } from '../../parts/empty'
import { Loaded } from '../../parts/loaded'
import { linkTo } from '../../parts/record-link'
import { useSearchChange } from '../../parts/search-change'
import { Section } from '../../parts/section'
import { loadWords, words } from '../../words'

const route = getRouteApi('/shell/editions/$edition/segments/$segment')
const t = await loadWords('segments')

type Explained = Schema['SegmentExplanation']

/** Explains by current data why one person is in the segment or not. */
export function Explanation({ segment }: { segment: Schema['Segment'] }) {
  const { edition } = route.useParams()
  const { user } = route.useSearch()
  const change = useSearchChange()
  const refusal = useRefusalReason('explainSegment')
  const explanation = useQuery({
    ...get('/v1/segments/{id}/explain', {
      params: { path: { id: segment.id }, query: { user_id: user ?? '' } },
    }),
    enabled: user !== undefined && refusal === null,
  })
  if (refusal !== null) return <Empty title={refusal} />
  return (
    <Stack gap="sm">
      <CustomerSelect
        label={words.common.customer}
        maw={460}
        edition={segment.edition_id ?? undefined}
        organization={segment.organization_id}
        value={user ?? null}
        onChange={(id) => change.set({ user: id ?? undefined })}
      />
      {user === undefined ? (
        <Empty title={t.choosePerson} hint={t.choosePersonHint} />
      ) : (
        <Loaded query={explanation} heights={[60, 160]}>
          {(data) => (
            <>
              <Verdict explanation={data} />
              <Link className="link" {...linkTo(`/editions/${edition}/customers/${user}`)}>
                {t.openCustomer}
              </Link>
              <Parts explanation={data} />
              <Conditions explanation={data} />
            </>
          )}
        </Loaded>
      )}
    </Stack>
  )
}

const nameReason = (reason: string): string => (t.reasons as Record<string, string>)[reason] ?? reason

function Verdict({ explanation: { is_member, excluded_for, was_member } }: { explanation: Explained }) {
  const changed = was_member !== null && was_member !== is_member
  return (
    <Alert color={is_member ? 'teal' : 'yellow'} variant="outline" title={is_member ? t.isMember : t.isNoMember}>
      <Text size="sm">{is_member ? t.meetsAll : excluded_for && `${t.because} ${nameReason(excluded_for)}`}</Text>
      {changed && <Text size="sm">{was_member ? t.wasMember : t.wasNoMember}</Text>}
    </Alert>
  )
}

const Truth = ({ value }: { value: boolean | null }) => {
  const [colour, Icon, label] =
    value === null
      ? (['yellow', IconQuestionMark, t.isError] as const)
      : value
        ? (['teal', IconCheck, t.holds] as const)
        : (['red', IconX, t.holdsNot] as const)
  return (
    <ThemeIcon color={colour} variant="outline" size="sm" radius="xl" role="img" aria-label={label}>
      <Icon size={14} />
    </ThemeIcon>
  )
}

const Line = ({ value, children }: { value: boolean | null; children: ReactNode }) => (
  <List.Item icon={<Truth value={value} />} className="break">
    {children}
  </List.Item>
)

/** The first part is the whole expression, which the others make up. */
const Parts = ({ explanation: { parts } }: { explanation: Explained }) => (
  <Section title={t.condition}>
    <List size="sm" spacing={6}>
      {parts.map((part) => (
        <Line key={`${part.start}-${part.end}`} value={part.value}>
          <Code className="code">{part.text}</Code>
        </Line>
      ))}
    </List>
  </Section>
)

const Conditions = ({ explanation: { conditions, consents } }: { explanation: Explained }) => (
  <Section title={t.canBeReached} hint={t.canBeReachedHint}>
    <List size="sm" spacing={6}>
      {conditions.map(({ name, value, reason }) => (
        <Line key={name} value={value}>
          {t.audienceConditions[name]}{' '}
          {reason !== null && (
            <Text span c="dimmed">
              – {nameReason(reason)}
            </Text>
          )}
        </Line>
      ))}
      {consents.map(({ key, status, is_current, decides }) => (
        <Line key={`${key}${decides}`} value={is_current}>
          <Group gap={6}>
            {t.conditions.consent} {key}: {t.answers[status]}
            <Text span size="sm" c="dimmed">
              {t.decides[decides]}
            </Text>
          </Group>
        </Line>
      ))}
    </List>
  </Section>
)
