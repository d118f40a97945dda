import { Button, CloseButton, Group, Pill, Popover, Select, Stack, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { IconFilter, IconSearch } from '@tabler/icons-react'
import { useEffect, useRef } from 'react'
import { useEdition } from '../caller'
import { countFilters } from '../search'
import { formatCount, formatDate, words } from '../words'
import { dayEnd, dayStart, toDay } from './days'
import { useSearchChange } from './search-change'

export type Filter = {
  /** The search parameter of the route, and of the operation. */
  key: string
  label: string
  /** True for filters behind "More filters". */
  isExtra?: boolean
} & (
  | { kind: 'choice'; options: Readonly<Record<string, string>> }
  | { kind: 'text' }
  | { kind: 'boolean' }
  /** A day in the time zone of the edition, sent as its first instant. `last` sends the end of the day. */
  | { kind: 'day'; last?: boolean }
)

interface Props {
  search: Record<string, unknown>
  filters: readonly Filter[]
  /** It names the fields that are searched. Without it there is no search field. */
  searchHint?: string
}

/** The filters of a list in one bar. They are the search parameters of the page. */
export function FilterBar({ search, filters, searchHint }: Props) {
  const change = useSearchChange()
  const extra = filters.filter(({ isExtra }) => isExtra)
  const set = filters.filter(({ key }) => search[key] !== undefined)
  const extraCount = extra.filter(({ key }) => search[key] !== undefined).length
  return (
    <Stack gap="xs" role="search">
      <Group gap="xs" align="end">
        {searchHint !== undefined && <SearchField text={readText(search['search'])} hint={searchHint} />}
        {filters
          .filter(({ isExtra }) => !isExtra)
          .map((filter) => (
            <FilterField key={filter.key} filter={filter} value={search[filter.key]} />
          ))}
        {extra.length > 0 && (
          <Popover position="bottom-end" shadow="md" trapFocus>
            <Popover.Target>
              <Button variant="default" leftSection={<IconFilter size={16} aria-hidden />}>
                {words.common.moreFilters}
                {extraCount > 0 && ` (${formatCount(extraCount)})`}
              </Button>
            </Popover.Target>
            <Popover.Dropdown>
              <Stack gap="xs" w={260}>
                {extra.map((filter) => (
                  <FilterField key={filter.key} filter={filter} value={search[filter.key]} isLabelled />
                ))}
              </Stack>
            </Popover.Dropdown>
          </Popover>
        )}
      </Group>
      {countFilters(search) > 0 && (
        <Group gap="xs">
          {set.map((filter) => (
            <FilterPill key={filter.key} filter={filter} value={search[filter.key]} />
          ))}
          <Button size="compact-sm" variant="subtle" onClick={() => change.clear()}>
            {words.common.clearFilters}
          </Button>
        </Group>
      )}
    </Stack>
  )
}

const readText = (value: unknown): string => (typeof value === 'string' ? value : '')

function SearchField({ text, hint }: { text: string; hint: string }) {
  const change = useSearchChange()
  const input = useRef<HTMLInputElement>(null)
  const search = useDebouncedCallback((value: string) => change.set({ search: value.trim() || undefined }), 300)
  // The address can change without the field: by "back", or when all filters are cleared.
  useEffect(() => {
    if (input.current && document.activeElement !== input.current) input.current.value = text
  }, [text])
  return (
    <TextInput
      ref={input}
      type="search"
      aria-label={words.common.search}
      placeholder={hint}
      defaultValue={text}
      onChange={(event) => search(event.currentTarget.value)}
      leftSection={<IconSearch size={16} aria-hidden />}
      miw={220}
      flex={1}
    />
  )
}

function FilterField({ filter, value, isLabelled }: { filter: Filter; value: unknown; isLabelled?: boolean }) {
  const change = useSearchChange()
  const zone = useEdition()?.timezone ?? 'UTC'
  const set = (next: string | undefined) => change.set({ [filter.key]: next })
  const setLater = useDebouncedCallback(set, 300)
  const label = isLabelled ? { label: filter.label } : { 'aria-label': filter.label }
  if (filter.kind === 'choice')
    return (
      <Select
        {...label}
        placeholder={filter.label}
        clearable
        searchable={Object.keys(filter.options).length > 8}
        w={isLabelled ? undefined : { base: 'calc(50% - 5px)', sm: 160 }}
        value={readText(value) || null}
        data={Object.entries(filter.options).map(([key, name]) => ({ value: key, label: name }))}
        onChange={(next) => set(next ?? undefined)}
      />
    )
  if (filter.kind === 'boolean')
    return (
      <Select
        {...label}
        placeholder={filter.label}
        clearable
        w={isLabelled ? undefined : { base: 'calc(50% - 5px)', sm: 160 }}
        value={typeof value === 'boolean' ? String(value) : null}
        data={[
          { value: 'true', label: words.common.yes },
          { value: 'false', label: words.common.no },
        ]}
        onChange={(next) => change.set({ [filter.key]: next === null ? undefined : next === 'true' })}
      />
    )
  if (filter.kind === 'day')
    return (
      <TextInput
        {...label}
        type="date"
        value={typeof value === 'string' ? toDay(value, zone) : ''}
        onChange={({ currentTarget: { value: day } }) =>
          set(day === '' ? undefined : filter.last ? dayEnd(day, zone) : dayStart(day, zone))
        }
      />
    )
  return (
    <TextInput
      {...label}
      placeholder={isLabelled ? undefined : filter.label}
      key={typeof value === 'string' ? undefined : 'empty'}
      defaultValue={typeof value === 'string' ? value : ''}
      rightSection={
        value === undefined ? null : (
          <CloseButton size={24} aria-label={words.common.clear} onClick={() => set(undefined)} />
        )
      }
      onChange={(event) => setLater(event.currentTarget.value.trim() || undefined)}
    />
  )
}

function FilterPill({ filter, value }: { filter: Filter; value: unknown }) {
  const change = useSearchChange()
  const zone = useEdition()?.timezone
  const text =
    filter.kind === 'choice'
      ? (filter.options[String(value)] ?? String(value))
      : filter.kind === 'day'
        ? formatDate(String(value), zone)
        : filter.kind === 'boolean'
          ? words.common[value === true ? 'yes' : 'no']
          : String(value)
  return (
    <Pill
      withRemoveButton
      onRemove={() => change.set({ [filter.key]: undefined })}
      removeButtonProps={{ 'aria-label': `${words.common.clear}: ${filter.label}`, tabIndex: 0, 'aria-hidden': false }}
    >
      {filter.label}: {text}
    </Pill>
  )
}
