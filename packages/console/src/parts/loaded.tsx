import { Skeleton, Stack } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { words } from '../words'
import { Refusal } from './refusal'

interface Props<Data> {
  query: UseQueryResult<Data>
  /** The heights of what will be shown. */
  heights?: readonly number[]
  children: (data: Data) => ReactNode
}

/** Shows the result of a query, its skeleton while it loads, or its error. An error above a result says that it is old. */
export function Loaded<Data>({ query, heights = [32, 160, 240], children }: Props<Data>) {
  const refusal = query.error && <Refusal error={query.error} retry={query.refetch} />
  if (query.data !== undefined)
    return (
      <>
        {refusal}
        {children(query.data)}
      </>
    )
  if (refusal) return refusal
  return (
    <Stack aria-busy aria-label={words.common.loading} role="status">
      {heights.map((height, index) => (
        <Skeleton key={index} h={height} />
      ))}
    </Stack>
  )
}
