import { ifUnchanged, PreconditionFailedError } from '@event-commerce/client'
import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useRef, useState } from 'react'
import { api, getWithEtag, queries, type Schema } from '../../api'
import { useChange } from '../../form'
import type { CampaignDetail } from './types'

/** The part of a campaign that the composer edits. */
export type Draft = Pick<CampaignDetail, 'name' | 'channel' | 'email_message_id' | 'send_window'> & {
  segment_id: string
  sms_body: Record<string, string>
}

export const campaignQuery = (id: string) => getWithEtag('/v1/campaigns/{id}', { params: { path: { id } } })

const read = ({
  name,
  channel,
  email_message_id,
  send_window,
  segment,
  sms_body_translations,
}: CampaignDetail): Draft => ({
  name,
  channel,
  email_message_id,
  send_window,
  segment_id: segment.id,
  sms_body: sms_body_translations,
})

const isSame = (one: Draft, other: Draft): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Shows the answer to an action at once. */
export function storeCampaign({ data, etag }: { data: CampaignDetail; etag: string | null }): void {
  queries.setQueryData(campaignQuery(data.id).queryKey, { data, etag })
}

interface Version {
  draft: Draft
  etag: string | null
}

async function patch(id: string, body: Partial<Draft>, etag: string | null) {
  const headers = { ...ifUnchanged(etag), 'Idempotency-Key': crypto.randomUUID() }
  return api.PATCH('/v1/campaigns/{id}', { params: { path: { id } }, body, headers })
}

/** Saves a change of what the person has read. */
async function saveChanges(id: string, changes: Partial<Draft>, { draft, etag }: Version) {
  try {
    return await patch(id, changes, etag)
  } catch (error) {
    if (!(error instanceof PreconditionFailedError)) throw error
    const fresh = await api.GET('/v1/campaigns/{id}', { params: { path: { id } } })
    // The ETag also changes with what only shows here, such as the number of people in the segment.
    if (!isSame(read(fresh.data), draft)) throw error
    return patch(id, changes, fresh.etag)
  }
}

const pauseMs = 600

export interface DraftEdit {
  values: Draft
  /** Another number after the fields were set back. */
  round: number
  set: (part: Partial<Draft>) => void
  /** Sends what is not saved yet. */
  save: () => void
  /** Forgets what is not saved, and shows what the service has. */
  discard: () => void
  isDirty: boolean
  isSaving: boolean
  /** True if changes are saved by themselves: a draft harms nobody. */
  isAutomatic: boolean
  error: Error | null
  warnings: Schema['FieldProblem'][]
}

/** Edits a campaign. A draft is saved a moment after each change, a scheduled campaign when the person says so. */
export function useDraft(campaign: CampaignDetail, etag: string | null): DraftEdit {
  const [changes, setChanges] = useState<Partial<Draft>>({})
  const [round, setRound] = useState(0)
  const base = useRef<Version>({ draft: read(campaign), etag })
  const isDirty = Object.keys(changes).length > 0
  if (!isDirty) base.current = { draft: read(campaign), etag }
  const { id } = campaign
  const change = useChange(
    async (sent: Partial<Draft>) => ({ sent, answer: await saveChanges(id, sent, base.current) }),
    {
      onSent({ sent, answer: { data, etag: next } }) {
        base.current = { draft: read(data), etag: next }
        storeCampaign({ data, etag: next })
        // Changes that were typed meanwhile are still to be saved.
        setChanges((current) =>
          Object.fromEntries(Object.entries(current).filter(([key, value]) => value !== sent[key as keyof Draft])),
        )
      },
    },
  )
  const isAutomatic = campaign.status === 'draft'
  const save = () => {
    if (isDirty && !change.isPending) change.mutate(changes)
  }
  const saveLater = useDebouncedCallback(save, { delay: pauseMs, flushOnUnmount: true })
  useEffect(() => {
    if (isAutomatic && isDirty && !change.isPending && !change.error) saveLater()
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [changes, change.isPending])
  return {
    values: { ...read(campaign), ...changes },
    round,
    set(part) {
      if (change.error) change.reset()
      setChanges((current) => ({ ...current, ...part }))
    },
    save,
    discard() {
      change.reset()
      setChanges({})
      setRound((current) => current + 1)
    },
    isDirty,
    isSaving: change.isPending,
    isAutomatic,
    error: change.error,
    warnings: change.data?.answer.data.warnings ?? [],
  }
}
