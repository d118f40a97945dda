import { Select } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { getList, type Schema } from '../../api'
import { useEdition } from '../../caller'
import { loadWords, plural } from '../../words'
import type { Channel } from './types'

const t = await loadWords('campaigns')

interface Props {
  channel: Channel
  value: string | null
  /** The segment of the value, which the first page of the list may lack. */
  current?: { id: string; name: string } | undefined
  onChange: (id: string) => void
  error?: ReactNode
  disabled?: boolean
}

function describe(segment: Schema['Segment'], edition: string | undefined): string {
  const people = segment.status === 'ready' ? plural(segment.user_count, t.people) : t.notCalculated
  const owner = segment.edition === null || segment.edition_id === edition ? '' : ` · ${segment.edition.full_name}`
  return `${segment.name} · ${people}${owner}`
}

/** The segments of the organisation for a channel. Those of other editions are shown, and cannot be chosen. */
export function SegmentSelect({ channel, value, current, onChange, error, disabled }: Props) {
  const edition = useEdition()
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 250)
  const isLabel = current !== undefined && text.startsWith(current.name)
  const query = {
    organization_id: edition?.organization.id ?? '',
    communication_channel: channel,
    page_size: 50,
    ordering: ['name' as const],
    ...(search === '' || isLabel ? {} : { search }),
  }
  const list = useQuery({ ...getList('/v1/segments', { params: { query } }), enabled: edition !== undefined })
  const segments = list.data?.results ?? []
  const missing = current !== undefined && value === current.id && !segments.some(({ id }) => id === current.id)
  return (
    <Select
      label={t.segment}
      description={t.segmentHint[channel]}
      searchable
      required
      allowDeselect={false}
      disabled={disabled ?? false}
      error={error ?? list.error?.message}
      nothingFoundMessage={t.noSegment[channel]}
      filter={({ options }) => options}
      value={value}
      onSearchChange={setText}
      onChange={(id) => id !== null && onChange(id)}
      data={[
        ...(missing ? [{ value: current.id, label: current.name }] : []),
        ...segments.map((segment) => ({
          value: segment.id,
          label: describe(segment, edition?.id),
          disabled: segment.edition_id !== null && segment.edition_id !== edition?.id,
        })),
      ]}
    />
  )
}
