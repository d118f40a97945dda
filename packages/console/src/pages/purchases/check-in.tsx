import { Grid, Group, Select, Stack, Switch, Text, TextInput } from '@mantine/core'
import { useLocalStorage, useWindowEvent } from '@mantine/hooks'
import { IconQrcode } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { get } from '../../api'
import { useRefusalReason } from '../../caller'
import { Heading } from '../../parts/heading'
import { formatCount, loadWords } from '../../words'
import { ScanList } from './scan-list'
import { useCheckIn } from './use-check-in'
import { Verdict } from './verdict'

const route = getRouteApi('/shell/editions/$edition/check-in')
const t = await loadWords('purchases')

/** The entrance: a scanner types codes and ends each with Enter. */
export function CheckIn() {
  const { edition } = route.useParams()
  const [location, setLocation] = useLocalStorage<string | null>({
    key: `check-in-location.${edition}`,
    defaultValue: null,
  })
  const [isImmediate, setImmediate] = useLocalStorage({ key: 'check-in-immediate', defaultValue: false })
  const refusal = useRefusalReason('createPurchaseUse')
  const state = useCheckIn({ edition, location, isImmediate, refusal })
  const field = useRef<HTMLInputElement>(null)
  const focus = () => field.current?.focus()
  useTypingAnywhere(focus)
  useEffect(focus, [state.view])
  return (
    <Stack>
      <Heading title={t.title} facts={<Progress edition={edition} />} />
      <Grid gap="md">
        <Grid.Col span={{ base: 12, md: 8 }}>
          <Stack>
            <CodeField field={field} scan={state.scan} enter={state.letIn} />
            {refusal !== null && (
              <Text size="sm" c="dimmed">
                {refusal}
              </Text>
            )}
            <Verdict state={state} />
            <Group gap="lg">
              <LocationField edition={edition} location={location} change={setLocation} />
              <Switch
                label={t.immediate}
                description={t.immediateHint}
                checked={isImmediate}
                onChange={(event) => setImmediate(event.currentTarget.checked)}
              />
            </Group>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 4 }}>
          <ScanList edition={edition} onChange={state.clear} />
        </Grid.Col>
      </Grid>
    </Stack>
  )
}

/** Keys that are pressed outside of fields go into the field, because a scanner is a keyboard. */
function useTypingAnywhere(focus: () => void): void {
  useWindowEvent('keydown', ({ key, ctrlKey, metaKey, altKey }) => {
    const active = document.activeElement
    const isFree = active === null || active === document.body || active.id === 'main'
    if (isFree && key.length === 1 && !ctrlKey && !metaKey && !altKey) focus()
  })
}

interface FieldProps {
  field: React.RefObject<HTMLInputElement | null>
  scan: (code: string) => void
  /** Called for Enter in the empty field. */
  enter: () => void
}

function CodeField({ field, scan, enter }: FieldProps) {
  const [text, setText] = useState('')
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const code = text.trim()
        setText('')
        if (code === '') enter()
        else scan(code)
      }}
    >
      <TextInput
        ref={field}
        size="xl"
        label={t.code}
        description={t.codeHint}
        leftSection={<IconQrcode size={28} aria-hidden />}
        autoFocus
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        enterKeyHint="go"
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
    </form>
  )
}

interface LocationProps {
  edition: string
  location: string | null
  change: (location: string | null) => void
}

/** Nothing is shown for an edition without locations. */
function LocationField({ edition, location, change }: LocationProps) {
  const query = { edition_id: edition, page_size: 500, ordering: ['name' as const] }
  const locations = useQuery({ ...get('/v1/locations', { params: { query } }), staleTime: 60_000 })
  const options = (locations.data?.results ?? []).map(({ id, name }) => ({ value: id, label: name }))
  // A location that was deleted would make the service refuse every use.
  const isGone = locations.data !== undefined && !options.some(({ value }) => value === location)
  useEffect(() => {
    if (location !== null && isGone) change(null)
  }, [location, isGone, change])
  if (options.length === 0) return null
  return (
    <Select label={t.location} placeholder={t.noLocation} clearable data={options} value={location} onChange={change} />
  )
}

const refreshMs = 30_000

/** Counts the used tickets, and all that can be used. */
function Progress({ edition }: { edition: string }) {
  const path = { id: edition }
  const used = useQuery({
    ...get('/v1/purchases', { params: { query: { edition_id: edition, is_used: true, page_size: 1 } } }),
    refetchInterval: refreshMs,
  })
  const stats = useQuery({
    ...get('/v1/editions/{id}/stats', { params: { path, query: { group_by: ['status'] } } }),
    refetchInterval: refreshMs,
  })
  if (!used.data || !stats.data) return <>&nbsp;</>
  const all = stats.data.purchases
    .filter(({ status }) => status === 'active' || status === 'used')
    .reduce((sum, { count }) => sum + count, 0)
  return (
    <>
      {t.usedTickets}: {formatCount(used.data.count)} / {formatCount(all)}
    </>
  )
}
