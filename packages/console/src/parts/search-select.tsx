import { type ComboboxItem, Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { useQuery, type UseQueryOptions, type UseQueryResult } from '@tanstack/react-query'
import { useState } from 'react'
import { words } from '../words'
import type { Page } from './record-list'

interface Props<Row> extends Omit<SelectProps, 'data' | 'onChange' | 'onSearchChange' | 'searchValue' | 'filter'> {
  /** The query of the list for a text. */
  rows: (search: string | undefined) => unknown
  toOption: (row: Row) => ComboboxItem
  onChange: (value: string | null, option: ComboboxItem | null) => void
}

/** Chooses a row of a list of the API, which the server searches. */
export function SearchSelect<Row>({ rows, toOption, onChange, ...select }: Props<Row>) {
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<ComboboxItem | null>(null)
  const [search] = useDebouncedValue(text === chosen?.label ? '' : text.trim(), 250)
  const list = useQuery(rows(search || undefined) as UseQueryOptions) as UseQueryResult<Page<Row>>
  const options = (list.data?.results ?? []).map(toOption)
  const isListed = chosen === null || options.some(({ value }) => value === chosen.value)
  return (
    <Select
      {...select}
      searchable
      clearable
      searchValue={text}
      onSearchChange={setText}
      // The server has filtered the options.
      filter={({ options: all }) => all}
      data={isListed ? options : [chosen, ...options]}
      nothingFoundMessage={list.isFetching ? words.common.loading : words.common.noMatch}
      onChange={(value, option) => {
        setChosen(value === null ? null : option)
        onChange(value, value === null ? null : option)
      }}
    />
  )
}
