import { Anchor, Button, Group as Row, Loader, Menu, SegmentedControl, Stack, Text } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, get, type Schema } from '../../api'
import { formatCount, loadWords, plural, words } from '../../words'
import { Loaded } from '../loaded'
import { Refusal } from '../refusal'
import { CelArea } from './cel-area'
import { ConditionRows } from './condition-rows'
import { type Group, readConditions, writeConditions } from './conditions'
import { fits, listFields } from './fields'

const segmentsWords = await loadWords('segments')

const t = segmentsWords.conditions

/** The people that the expression is about. Without an edition they are those of the whole organisation. */
export interface People {
  organization: string
  edition: string | undefined
}

interface Props {
  value: string
  onChange: (expression: string) => void
  people: People
  /** Counts those who can get messages too. */
  audience?: Pick<Schema['Segment'], 'communication_type' | 'communication_channel'>
  error?: string | undefined
  isDisabled?: boolean
}

const buildTenant = ({ organization, edition }: People) =>
  edition === undefined ? { organization_id: organization } : { edition_id: edition }

const typingPauseMs = 300

/** Checks an expression and counts its people, a moment after the last key. */
function useCheck(expression: string, people: People, audience: Props['audience']) {
  const [settled] = useDebouncedValue(expression, typingPauseMs)
  const body = { expression: settled, ...buildTenant(people), ...audience }
  const check = useQuery({
    queryKey: ['validate-cel', body],
    queryFn: async ({ signal }) => (await api.POST('/v1/segments/validate-cel', { body, signal })).data,
    enabled: settled.trim() !== '',
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  })
  return { ...check, isSettled: settled === expression && !check.isPlaceholderData }
}

/** A condition about people: as rows where it has their form, and as text. It counts while somebody types. */
export function ConditionEditor(props: Props) {
  const context = useQuery({
    ...get('/v1/segments/cel-context', { params: { query: buildTenant(props.people) } }),
    staleTime: 60_000,
  })
  return (
    <Loaded query={context} heights={[32, 80]}>
      {(data) => <LoadedEditor {...props} context={data} />}
    </Loaded>
  )
}

function LoadedEditor({ value, onChange, people, audience, error, isDisabled = false, context }: LoadedProps) {
  const fields = listFields(context)
  const read = (text: string): Group | null => {
    const group = readConditions(text)
    return group !== null && fits(group, fields) ? group : null
  }
  // Rows under construction, such as an empty group, have no text of their own, so they are held beside the text.
  const [rows, setRows] = useState({ text: value, group: read(value) })
  if (rows.text !== value) setRows({ text: value, group: read(value) })
  const [form, setForm] = useState(rows.group === null ? 'text' : 'rows')
  const change = (group: Group) => {
    const text = writeConditions(group, (path) => fields.find((field) => field.path === path)?.isNullable ?? false)
    setRows({ text, group })
    onChange(text)
  }
  const check = useCheck(value, people, audience)
  const { data, isSettled } = check
  const showsRows = form === 'rows' && rows.group !== null
  return (
    <Stack gap="xs">
      <Row gap="xs" justify="space-between">
        <SegmentedControl
          size="xs"
          aria-label={t.form}
          value={form}
          onChange={setForm}
          data={[
            { value: 'rows', label: t.rows },
            { value: 'text', label: t.text },
          ]}
        />
        <Examples context={context} choose={onChange} isDisabled={isDisabled} />
      </Row>
      {form === 'rows' && rows.group === null && (
        <Text size="sm" c="dimmed">
          {t.noRows}
        </Text>
      )}
      {showsRows && rows.group ? (
        <fieldset className="bare" disabled={isDisabled}>
          <ConditionRows group={rows.group} context={context} fields={fields} onChange={change} />
        </fieldset>
      ) : (
        <CelArea
          label={t.expression}
          value={value}
          onChange={(text) => {
            // The field must not turn into rows under the person's hands.
            setForm('text')
            onChange(text)
          }}
          isDisabled={isDisabled}
          errors={isSettled ? (data?.errors ?? []) : []}
          warnings={isSettled ? (data?.warnings ?? []) : []}
        />
      )}
      {error && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {error}
        </Text>
      )}
      {showsRows &&
        isSettled &&
        [...(data?.errors ?? []), ...(data?.warnings ?? [])].map(({ message, start }) => (
          <Text key={`${start}${message}`} size="sm" c="dimmed">
            {message}
          </Text>
        ))}
      {check.error && <Refusal error={check.error} retry={check.refetch} />}
      {value.trim() !== '' && data?.is_valid !== false && (
        <CountLine check={data} isBusy={!isSettled || check.isFetching} hasAudience={audience !== undefined} />
      )}
    </Stack>
  )
}

type LoadedProps = Props & { context: Schema['CelContext'] }

interface CountProps {
  check: Schema['CelValidation'] | undefined
  isBusy: boolean
  hasAudience: boolean
}

function CountLine({ check, isBusy, hasAudience }: CountProps): ReactNode {
  const count = check?.estimated_user_count
  return (
    <Row gap="xs" aria-live="polite" mih={24}>
      {count !== null && count !== undefined && (
        <Text size="sm">
          <Text span fw={700} size="lg" className={isBusy ? 'old' : undefined}>
            {check?.is_estimate && '≈ '}
            {formatCount(count)}
          </Text>{' '}
          {plural(count, hasAudience ? t.canGet : t.people)}
        </Text>
      )}
      {isBusy && <Loader size="xs" role="status" aria-label={words.common.loading} />}
    </Row>
  )
}

interface ExamplesProps {
  context: Schema['CelContext']
  choose: (expression: string) => void
  isDisabled: boolean
}

const Examples = ({ context, choose, isDisabled }: ExamplesProps) => (
  <Row gap="xs">
    <Menu position="bottom-end" shadow="md" width={360}>
      <Menu.Target>
        <Button variant="subtle" size="compact-sm" disabled={isDisabled}>
          {t.examples}
        </Button>
      </Menu.Target>
      <Menu.Dropdown mah={400} className="scroll">
        {context.examples.map(({ title, expression }) => (
          <Menu.Item key={title} onClick={() => choose(expression)}>
            <Text size="sm" fw={600}>
              {title}
            </Text>
            <Text size="xs" ff="monospace" className="break">
              {expression}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
    <Anchor size="sm" href="/docs#tag/Segments/operation/getCelContext" target="_blank">
      {t.reference}
    </Anchor>
  </Row>
)
