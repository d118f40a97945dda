import { useState } from 'react'
import { queries, type Schema } from '../api'
import { useOrganizationId } from '../caller'
import { type FilePurpose, uploadFile } from './upload'

export interface UploadItem {
  id: string
  name: string
  size: number
  /** The share that has been sent, between 0 and 1. Null while nobody knows. */
  share: number | null
  error: Error | null
  cancel: () => void
}

interface Options {
  /** Null for files of the whole organisation. */
  edition: string | null
  purpose?: FilePurpose
  onUploaded?: (file: Schema['File']) => unknown
}

export interface Uploads {
  /** The uploads in their order: sent, waiting and failed. */
  items: readonly UploadItem[]
  isBusy: boolean
  send: (files: readonly File[]) => Promise<void>
}

/** Uploads files one after the other. A file that failed stays in the list until somebody removes it. */
export function useUploads({ edition, purpose, onUploaded }: Options): Uploads {
  const organization = useOrganizationId()
  const [items, setItems] = useState<readonly UploadItem[]>([])
  const remove = (id: string) => setItems((list) => list.filter((item) => item.id !== id))
  const update = (id: string, part: Partial<UploadItem>) =>
    setItems((list) => list.map((item) => (item.id === id ? { ...item, ...part } : item)))
  const send = async (files: readonly File[]) => {
    const entries = files.map((file) => ({ file, id: crypto.randomUUID(), abort: new AbortController() }))
    const toItem = ({ file: { name, size }, id, abort }: (typeof entries)[number]): UploadItem => ({
      id,
      name,
      size,
      share: null,
      error: null,
      cancel: () => {
        abort.abort()
        remove(id)
      },
    })
    setItems((list) => [...list, ...entries.map(toItem)])
    for (const { file, id, abort } of entries) {
      if (abort.signal.aborted || organization === undefined) continue
      try {
        const options = { organization, edition, purpose, signal: abort.signal }
        const result = await uploadFile(file, { ...options, onProgress: (share) => update(id, { share }) })
        remove(id)
        await onUploaded?.(result)
      } catch (error) {
        update(id, { error: error instanceof Error ? error : new Error(String(error)) })
      }
    }
    await queries.invalidateQueries()
  }
  return { items, isBusy: items.some(({ error }) => error === null), send }
}
