import type { RefusalReason } from './judgement'

/** Something that was scanned, with what became of it. */
export interface Scan {
  /** It is also the Idempotency-Key of the use: however often that is sent, the ticket is used once. */
  id: string
  edition: string
  code: string
  /** An instant in ISO 8601. */
  at: string
  ticket: { id: string; order: string; product: string; holder: string } | null
  /** `waiting`: the service has not answered whether the ticket is used. `failed`: it could not try. */
  outcome: 'in' | 'refused' | 'waiting' | 'failed' | 'reverted'
  reason: RefusalReason | null
  location: string | null
  /** The id of the use. */
  use: string | null
}

interface Store {
  /** The person whose scans these are. */
  owner: string
  scans: readonly Scan[]
}

const key = 'ecm-scans'
const maxScans = 100

function load(): Store {
  try {
    return (JSON.parse(sessionStorage.getItem(key) ?? 'null') as Store | null) ?? { owner: '', scans: [] }
  } catch {
    return { owner: '', scans: [] }
  }
}

let store = load()
const listeners = new Set<() => void>()

function replace(next: Store): void {
  store = next
  sessionStorage.setItem(key, JSON.stringify(next))
  listeners.forEach((listener) => listener())
}

/** Forgets the scans of anybody else. They have names of guests. */
export function beginScans(owner: string): void {
  if (store.owner !== owner) replace({ owner, scans: [] })
}

/** Adds a scan as the newest. Those that still wait for an answer stay, however many come after them. */
export function addScan(scan: Scan): void {
  const scans = [scan, ...store.scans]
  replace({ ...store, scans: scans.filter(({ outcome }, index) => index < maxScans || outcome === 'waiting') })
}

export function changeScan(id: string, change: Partial<Scan>): void {
  replace({ ...store, scans: store.scans.map((scan) => (scan.id === id ? { ...scan, ...change } : scan)) })
}

export const readScans = (): readonly Scan[] => store.scans

export function onScansChange(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
