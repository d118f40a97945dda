import { streamEvents } from '@event-commerce/client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { api, getWithEtag, queries, type Schema } from '../../api'
import { isRunning } from './steps'

export type DataImport = Schema['DataImport']
export type ImportResult = { data: DataImport; etag: string | null }

const importQuery = (id: string) => getWithEtag('/v1/data-imports/{id}', { params: { path: { id } } })

/** Shows the answer to an action at once, before the other queries of the page load again. */
export function storeImport(result: ImportResult): void {
  queries.setQueryData(importQuery(result.data.id).queryKey, result)
}

/** True if the newest answer allows the action. A render can be older. */
export const isAllowedNow = (id: string, action: DataImport['allowed_actions'][number]): boolean =>
  queries.getQueryData(importQuery(id).queryKey)?.data.allowed_actions.includes(action) ?? false

/** Writes each state that the service streams into the query of the import. */
async function followImport(id: string, signal: AbortSignal, setStreaming: (isStreaming: boolean) => void) {
  const { queryKey } = importQuery(id)
  const init = {
    params: { path: { id } },
    signal,
    onReconnect: (error: unknown) => error !== null && setStreaming(false),
  }
  try {
    for await (const { event, data } of streamEvents(api, '/v1/data-imports/{id}/events', init)) {
      setStreaming(true)
      const state = data === null ? {} : (JSON.parse(data) as Partial<DataImport>)
      queries.setQueryData(queryKey, (old) => old && { ...old, data: { ...old.data, ...state } })
      if (event === 'end') await queries.invalidateQueries()
    }
  } catch {
    // Polling continues without the stream.
  } finally {
    setStreaming(false)
  }
}

/** The import, whose progress comes by a stream, or by polling where no stream arrives. */
export function useImport(id: string) {
  const [isStreaming, setStreaming] = useState(false)
  const row = useQuery({
    ...importQuery(id),
    refetchInterval: ({ state }) => (isRunning(state.data?.data.status) ? (isStreaming ? 15_000 : 2000) : false),
  })
  const isWorking = isRunning(row.data?.data.status)
  useEffect(() => {
    if (!isWorking) return
    const quit = new AbortController()
    void followImport(id, quit.signal, setStreaming)
    return () => quit.abort()
  }, [id, isWorking])
  return row
}
