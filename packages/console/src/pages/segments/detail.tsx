import { Alert, Group, Progress, Select, Stack, Tabs, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { api, getWithEtag, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { ConditionEditor } from '../../parts/conditions/condition-editor'
import { EditForm, type Version } from '../../parts/edit-form'
import { Heading } from '../../parts/heading'
import { Loaded } from '../../parts/loaded'
import { useSearchChange } from '../../parts/search-change'
import { Section } from '../../parts/section'
import { Time } from '../../parts/time'
import { loadWords, words } from '../../words'
import { SegmentActions } from './actions'
import { Audience } from './audience'
import { Explanation } from './explanation'
import { Members } from './members'
import { SegmentStatus } from './segment-status'

const route = getRouteApi('/shell/editions/$edition/segments/$segment')
const t = await loadWords('segments')

type Segment = Schema['Segment']

const calculatingPauseMs = 1000

export function Segment() {
  const { edition, segment: id } = route.useParams()
  const segment = useQuery({
    ...getWithEtag('/v1/segments/{id}', { params: { path: { id } } }),
    refetchInterval: ({ state }) => state.data?.data.status === 'calculating' && calculatingPauseMs,
  })
  return (
    <Loaded query={segment}>
      {(latest) => (
        <Stack gap="sm">
          <Heading
            title={latest.data.name}
            mark={<SegmentStatus status={latest.data.status} />}
            facts={
              <>
                {t.types[latest.data.communication_type]} · {t.channels[latest.data.communication_channel]} ·{' '}
                {latest.data.edition?.full_name ?? t.wholeOrganization}
              </>
            }
            back={{ link: { to: '/editions/$edition/segments', params: { edition } }, label: t.title }}
            actions={<SegmentActions segment={latest.data} />}
          />
          <State segment={latest.data} />
          <Pages key={id} latest={latest} />
        </Stack>
      )}
    </Loaded>
  )
}

/** Shows the state of the calculation, and what somebody should do. */
function State({ segment }: { segment: Segment }) {
  if (segment.status === 'calculating')
    return (
      <Alert color="blue" variant="outline" title={t.calculating} role="status">
        <Progress value={segment.progress * 100} animated aria-label={t.calculating} />
        {segment.calculation_started_at && (
          <Text size="sm" mt="xs">
            {t.since} <Time at={segment.calculation_started_at} age />
          </Text>
        )}
      </Alert>
    )
  if (segment.status === 'failed')
    return (
      <Alert color="red" variant="outline" title={t.calculationFailed}>
        {segment.error_message}
      </Alert>
    )
  if (segment.status === 'draft')
    return (
      <Alert color="yellow" variant="outline" title={t.notCalculated}>
        {t.notCalculatedHint}
      </Alert>
    )
  return segment.is_stale ? (
    <Alert color="yellow" variant="outline" title={t.stale}>
      {segment.is_time_dependent ? t.staleTimeHint : t.staleHint}
    </Alert>
  ) : null
}

function Pages({ latest }: { latest: Version<Segment> }) {
  const search = route.useSearch()
  const change = useSearchChange()
  const tab = search.tab ?? 'condition'
  return (
    <Tabs
      value={tab}
      keepMounted={false}
      onChange={(next) =>
        change.set({ tab: next === 'condition' ? undefined : next, search: undefined, ordering: undefined })
      }
    >
      <Tabs.List mb="sm">
        <Tabs.Tab value="condition">{t.condition}</Tabs.Tab>
        <Tabs.Tab value="members">{t.members}</Tabs.Tab>
        <Tabs.Tab value="person">{t.onePerson}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="condition">
        <Stack gap="sm">
          <Audience segment={latest.data} />
          <Settings latest={latest} />
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="members">
        <Members segment={latest.data} />
      </Tabs.Panel>
      <Tabs.Panel value="person">
        <Explanation segment={latest.data} />
      </Tabs.Panel>
    </Tabs>
  )
}

interface Values extends Record<string, unknown> {
  name: string
  description: string
  edition_id: string | null
  communication_type: Segment['communication_type']
  communication_channel: Segment['communication_channel']
  expression: string
}

const read = (segment: Segment): Values => ({
  name: segment.name,
  description: segment.description,
  edition_id: segment.edition_id,
  communication_type: segment.communication_type,
  communication_channel: segment.communication_channel,
  expression: segment.expression,
})

function Settings({ latest }: { latest: Version<Segment> }) {
  const { data } = latest
  return (
    <EditForm
      latest={latest}
      read={read}
      operation="updateSegment"
      reason={data.status === 'calculating' ? t.waitForCalculation : null}
      labels={{ name: words.common.name, description: t.description, expression: t.condition }}
      isSticky
      save={(changes, headers) =>
        api.PATCH('/v1/segments/{id}', { params: { path: { id: data.id } }, body: changes, headers })
      }
    >
      {(form) => <Fields form={form} segment={data} />}
    </EditForm>
  )
}

function Fields({ form, segment }: { form: UseFormReturnType<Values>; segment: Segment }) {
  const edition = useEdition()
  const { communication_type, communication_channel, edition_id, expression } = form.values
  const losesMembers =
    segment.calculated_at !== null &&
    (['edition_id', 'communication_type', 'communication_channel', 'expression'] as const).some(
      (key) => form.values[key] !== segment[key],
    )
  const choices = [
    ...(edition ? [{ value: edition.id, label: edition.full_name }] : []),
    ...(segment.edition && segment.edition.id !== edition?.id
      ? [{ value: segment.edition.id, label: segment.edition.full_name }]
      : []),
    { value: '', label: t.wholeOrganization },
  ]
  return (
    <>
      <Section title={t.condition} hint={t.conditionHint}>
        <ConditionEditor
          value={expression}
          onChange={(next) => form.setFieldValue('expression', next)}
          people={{ organization: segment.organization_id, edition: edition_id ?? undefined }}
          audience={{ communication_type, communication_channel }}
          error={form.errors['expression'] as string | undefined}
        />
      </Section>
      <Section title={t.about}>
        <Stack gap="xs">
          <Group gap="xs" align="start" grow preventGrowOverflow={false}>
            <TextInput label={words.common.name} required miw={220} {...form.getInputProps('name')} />
            <TextInput label={t.description} miw={220} {...form.getInputProps('description')} />
          </Group>
          <Group gap="xs" align="start" grow preventGrowOverflow={false}>
            <Select
              label={t.type}
              description={t.typeHints[communication_type]}
              inputWrapperOrder={['label', 'input', 'description', 'error']}
              miw={180}
              allowDeselect={false}
              data={Object.entries(t.types).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('communication_type')}
            />
            <Select
              label={t.channel}
              miw={140}
              allowDeselect={false}
              data={Object.entries(t.channels).map(([value, label]) => ({ value, label }))}
              {...form.getInputProps('communication_channel')}
            />
            <Select
              label={t.scope}
              miw={200}
              allowDeselect={false}
              data={choices}
              value={edition_id ?? ''}
              error={form.errors['edition_id']}
              onChange={(id) => form.setFieldValue('edition_id', id === '' ? null : id)}
            />
          </Group>
        </Stack>
      </Section>
      {losesMembers && (
        <Text size="sm" c="dimmed" role="status">
          {t.losesMembers}
        </Text>
      )}
    </>
  )
}
