import { Select, type SelectProps } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { get } from '../api'
import { words } from '../words'

interface Props extends Omit<SelectProps, 'value' | 'onChange' | 'data'> {
  /** Only customers of this edition. Without it, those of the organisation. */
  edition?: string | undefined
  organization?: string | undefined
  /** The id of the customer. Null if nobody is customer. */
  value: string | null
  onChange: (id: string | null) => void
}

const pageSize = 20

/** Looks for a customer by name, e-mail or phone, and chooses one. */
export function CustomerSelect({ edition, organization, value, onChange, ...select }: Props) {
  const [text, setText] = useState('')
  const [search] = useDebouncedValue(text.trim(), 300)
  // The field shows the customer customer's name, which must not become a search.
  const [chosenLabel, setChosenLabel] = useState('')
  const query = {
    page_size: pageSize,
    ...(edition !== undefined ? { edition_id: edition } : { organization_id: organization }),
    ...(search !== '' && search !== chosenLabel && { search }),
  }
  const people = useQuery({ ...get('/v1/user', { params: { query } }), placeholderData: keepPreviousData })
  const customer = useQuery({
    ...get('/v1/user/{id}', { params: { path: { id: value ?? '' } } }),
    enabled: value !== null,
    staleTime: 60_000,
  })
  const list = people.data?.results ?? []
  const all = customer.data && value !== null && !list.some(({ id }) => id === value) ? [customer.data, ...list] : list
  const data = all.map(({ id, first_name, last_name, email, phone_number }) => ({
    value: id,
    label: [`${first_name} ${last_name}`.trim(), email ?? phone_number].filter(Boolean).join(' · ') || id,
  }))
  return (
    <Select
      searchable
      clearable
      nothingFoundMessage={people.isFetching ? words.common.loading : words.common.noMatch}
      placeholder={words.common.chooseCustomer}
      // The server has searched already, with its own rules.
      filter={({ options }) => options}
      {...select}
      value={value}
      data={data}
      searchValue={text}
      onSearchChange={setText}
      onChange={(id) => {
        setChosenLabel(data.find((one) => one.value === id)?.label ?? '')
        onChange(id)
      }}
    />
  )
}
