import { DatabaseSync } from 'node:sqlite'

export interface PlatformWorker {
  tag: string
  migrationTag: string | null
  /** The bindings of the version that serves, with the values of secrets. */
  bindings: { name: string; type: string; text?: string; [key: string]: unknown }[]
  modules: string[]
  assets: boolean
  isOnWorkersDev: boolean
  schedules: string[]
  versions: number
  deployed: boolean
}

export interface PlatformQueue {
  queue_id: string
  queue_name: string
  consumers: { consumer_id: string; type: string; script: string; dead_letter_queue?: string; settings: object }[]
}

export interface PlatformDatabase {
  uuid: string
  name: string
  database: DatabaseSync
}

export interface Organization {
  id: string
  name: string
  members: { id: string; email: string; role: string }[]
}

/** The state of the platform. */
export interface PlatformState {
  accounts: { id: string; name: string }[]
  token: string
  subdomain: string | null
  zones: string[]
  workers: Map<string, PlatformWorker>
  queues: Map<string, PlatformQueue>
  databases: Map<string, PlatformDatabase>
  buckets: Set<string>
  domains: Map<string, string>
  /** Hosts with DNS records of the account's owner. */
  dnsRecords: Set<string>
  assetHashes: Set<string>
  /** The organisations of the deployed services, by host. */
  organizations: Map<string, Organization[]>
  /** Links to sign in that were made. */
  links: string[]
  nextId: number
}

export const createState = (): PlatformState => ({
  accounts: [{ id: 'a'.repeat(32), name: 'Acme' }],
  token: 'token-of-the-platform',
  subdomain: 'acme',
  zones: ['example.com'],
  workers: new Map(),
  queues: new Map(),
  databases: new Map(),
  buckets: new Set(),
  domains: new Map(),
  dnsRecords: new Set(),
  assetHashes: new Set(),
  organizations: new Map(),
  links: [],
  nextId: 1,
})

export const makeId = (state: PlatformState): string => String(state.nextId++).padStart(32, '0')

export function addDatabase(state: PlatformState, name: string): PlatformDatabase {
  const hex = makeId(state)
  const uuid = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`
  const row = { uuid, name, database: new DatabaseSync(':memory:') }
  state.databases.set(name, row)
  return row
}

export function addQueue(state: PlatformState, name: string): PlatformQueue {
  const queue = { queue_id: makeId(state), queue_name: name, consumers: [] }
  state.queues.set(name, queue)
  return queue
}
