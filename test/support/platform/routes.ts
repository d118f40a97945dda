import type { DatabaseSync } from 'node:sqlite'
import { type Call, type Handler, Listing, readForm, readJson, Refusal } from './answers.ts'
import { addDatabase, addQueue, makeId, type PlatformQueue, type PlatformState, type PlatformWorker } from './state.ts'

type Route = [method: string, path: RegExp, handle: Handler<PlatformState>]

const account = '/accounts/([^/]+)'
const at = (path: string): RegExp => new RegExp(`^${account}${path}$`)

function getWorker(state: PlatformState, name = ''): PlatformWorker {
  const worker = state.workers.get(name)
  if (!worker) throw new Refusal(404, 10_007, 'This Worker does not exist on your account.')
  return worker
}

interface Metadata {
  bindings: PlatformWorker['bindings']
  keep_bindings?: string[]
  migrations?: { old_tag?: string; new_tag: string }
  main_module: string
  assets?: { jwt: string }
}

function checkBindings(state: PlatformState, bindings: PlatformWorker['bindings']): void {
  const databases = [...state.databases.values()].map(({ uuid }) => uuid)
  for (const binding of bindings) {
    const { type, name } = binding
    if (type === 'd1' && !databases.includes(String(binding['id'] ?? binding['database_id'])))
      throw new Refusal(400, 10_181, `The database of ${name} does not exist.`)
    if (type === 'r2_bucket' && !state.buckets.has(String(binding['bucket_name'])))
      throw new Refusal(400, 10_085, `The bucket of ${name} does not exist.`)
    if (type === 'queue' && !state.queues.has(String(binding['queue_name'])))
      throw new Refusal(400, 10_090, `The queue of ${name} does not exist.`)
  }
}

async function readUpload(state: PlatformState, call: Call, worker: PlatformWorker | undefined) {
  const form = await readForm(call)
  const metadata = JSON.parse(form.get('metadata') as string) as Metadata
  checkBindings(state, metadata.bindings)
  if (metadata.migrations && (metadata.migrations.old_tag ?? null) !== (worker?.migrationTag ?? null))
    throw new Refusal(412, 10_079, 'Migration tag precondition failed.')
  const names = metadata.bindings.map(({ name }) => name)
  const secrets = (worker?.bindings ?? []).filter(({ type, name }) => type === 'secret_text' && !names.includes(name))
  const keepsSecrets = metadata.keep_bindings?.includes('secret_text') ?? false
  return {
    bindings: [...metadata.bindings, ...(keepsSecrets ? secrets : [])],
    migrationTag: metadata.migrations?.new_tag ?? worker?.migrationTag ?? null,
    modules: [...form.keys()].filter((name) => name !== 'metadata'),
    assets: metadata.assets !== undefined,
  }
}

const describeScript = (state: PlatformState, worker: PlatformWorker, name: string) => ({
  id: name,
  tag: worker.tag,
  tags: [],
  migration_tag: worker.migrationTag ?? undefined,
  last_deployed_from: 'wrangler',
  etag: makeId(state),
  startup_time_ms: 20,
  deployment_id: makeId(state),
})

const describeQueue = (queue: PlatformQueue) => ({ ...queue, producers: [], producers_total_count: 0 })

function findQueue(state: PlatformState, id = ''): PlatformQueue {
  const queue = [...state.queues.values()].find(({ queue_id }) => queue_id === id)
  if (!queue) throw new Refusal(404, 11_000, 'Queue not found.')
  return queue
}

const workerRoutes: Route[] = [
  [
    'GET',
    at('/workers/services/([^/]+)'),
    (state, _call, [, name = '']) => ({
      id: name,
      default_environment: { environment: 'production', script: describeScript(state, getWorker(state, name), name) },
    }),
  ],
  [
    'PUT',
    at('/workers/scripts/([^/]+)'),
    async (state, call, [, name = '']) => {
      const worker = state.workers.get(name)
      const upload = await readUpload(state, call, worker)
      const next: PlatformWorker = {
        tag: worker?.tag ?? makeId(state),
        isOnWorkersDev: worker?.isOnWorkersDev ?? false,
        schedules: worker?.schedules ?? [],
        versions: (worker?.versions ?? 0) + 1,
        deployed: true,
        ...upload,
      }
      state.workers.set(name, next)
      return describeScript(state, next, name)
    },
  ],
  [
    'POST',
    at('/workers/scripts/([^/]+)/versions'),
    async (state, call, [, name = '']) => {
      const worker = getWorker(state, name)
      Object.assign(worker, await readUpload(state, call, worker))
      worker.versions++
      return { id: crypto.randomUUID(), startup_time_ms: 20, resources: { script: { etag: makeId(state) } } }
    },
  ],
  [
    'GET',
    at('/workers/scripts/([^/]+)/deployments'),
    (state, _call, [, name]) => {
      getWorker(state, name)
      return { deployments: [{ id: makeId(state), versions: [{ version_id: makeId(state), percentage: 100 }] }] }
    },
  ],
  ['POST', at('/workers/scripts/([^/]+)/deployments'), (state) => ({ id: makeId(state) })],
  ['PATCH', at('/workers/scripts/([^/]+)/script-settings'), () => ({})],
  [
    'GET',
    at('/workers/scripts/([^/]+)/settings'),
    (state, _call, [, name]) => ({
      bindings: getWorker(state, name).bindings.map(({ text, ...binding }) =>
        binding.type === 'secret_text' ? binding : { ...binding, ...(text === undefined ? {} : { text }) },
      ),
    }),
  ],
  [
    'GET',
    at('/workers/scripts/([^/]+)/secrets'),
    (state, _call, [, name]) =>
      getWorker(state, name)
        .bindings.filter(({ type }) => type === 'secret_text')
        .map(({ name: secret, type }) => ({ name: secret, type })),
  ],
  [
    'GET',
    at('/workers/scripts/([^/]+)/subdomain'),
    (state, _call, [, name]) => ({ enabled: getWorker(state, name).isOnWorkersDev, previews_enabled: false }),
  ],
  [
    'POST',
    at('/workers/scripts/([^/]+)/subdomain'),
    (state, call, [, name]) => {
      const { enabled } = readJson(call) as { enabled: boolean }
      getWorker(state, name).isOnWorkersDev = enabled
      return { enabled, previews_enabled: false }
    },
  ],
  [
    'GET',
    at('/workers/workers/([^/]+)'),
    (state, _call, [, name = '']) => ({
      name,
      subdomain: { enabled: getWorker(state, name).isOnWorkersDev, previews_enabled: false },
    }),
  ],
  [
    'PUT',
    at('/workers/scripts/([^/]+)/schedules'),
    (state, call, [, name]) => {
      const schedules = readJson(call) as { cron: string }[]
      getWorker(state, name).schedules = schedules.map(({ cron }) => cron)
      return { schedules }
    },
  ],
  [
    'POST',
    at('/workers/scripts/([^/]+)/assets-upload-session'),
    (state, call) => {
      const { manifest } = readJson(call) as { manifest: Record<string, { hash: string }> }
      const missing = [...new Set(Object.values(manifest).map(({ hash }) => hash))].filter(
        (hash) => !state.assetHashes.has(hash),
      )
      return { jwt: 'jwt-of-the-assets', buckets: missing.length > 0 ? [missing] : [] }
    },
  ],
  [
    'POST',
    at('/workers/assets/upload'),
    async (state, call) => {
      for (const hash of (await readForm(call)).keys()) state.assetHashes.add(hash)
      return { jwt: 'jwt-of-the-assets' }
    },
  ],
]

const addressRoutes: Route[] = [
  [
    'GET',
    at('/workers/subdomain'),
    (state) => {
      if (state.subdomain === null) throw new Refusal(404, 10_007, 'You do not have a workers.dev subdomain.')
      return { subdomain: state.subdomain }
    },
  ],
  [
    'PUT',
    at('/workers/subdomain'),
    (state, call) => {
      const { subdomain } = readJson(call) as { subdomain: string }
      if (state.subdomain !== null) throw new Refusal(409, 10_036, 'The account has a subdomain.')
      state.subdomain = subdomain
      return { subdomain }
    },
  ],
  [
    'GET',
    at('/workers/domains'),
    (state, { query }) =>
      [...state.domains]
        .map(([hostname, service]) => ({ hostname, service }))
        .filter(({ hostname }) => !query.has('hostname') || hostname === query.get('hostname'))
        .filter(({ service }) => !query.has('service') || service === query.get('service')),
  ],
  [
    'PUT',
    at('/workers/domains'),
    (state, call) => {
      const { hostname, service } = readJson(call) as { hostname: string; service: string }
      getWorker(state, service)
      if (state.dnsRecords.has(hostname)) throw new Refusal(409, 100_117, 'Hostname already has DNS records.')
      state.domains.set(hostname, service)
      return { hostname, service }
    },
  ],
  [
    'GET',
    /^\/zones$/,
    (state, { query }) => state.zones.filter((name) => name === query.get('name')).map((name) => ({ name })),
  ],
]

const storageRoutes: Route[] = [
  [
    'GET',
    at('/d1/database'),
    (state, { query }) =>
      new Listing(
        [...state.databases.values()]
          .filter(({ name }) => name.includes(query.get('name') ?? ''))
          .map(({ uuid, name }) => ({ uuid, name })),
      ),
  ],
  [
    'POST',
    at('/d1/database'),
    (state, call) => {
      const { name } = readJson(call) as { name: string }
      if (state.databases.has(name)) throw new Refusal(400, 7502, `A database with the name ${name} exists.`)
      const { uuid } = addDatabase(state, name)
      return { uuid, name }
    },
  ],
  [
    'GET',
    at('/d1/database/([^/]+)'),
    (state, _call, [, id]) => {
      const row = [...state.databases.values()].find(({ uuid }) => uuid === id)
      if (!row) throw new Refusal(404, 7404, 'The database does not exist.')
      return { uuid: row.uuid, name: row.name }
    },
  ],
  [
    'POST',
    at('/d1/database/([^/]+)/query'),
    (state, call, [, id]) => {
      const { sql } = readJson(call) as { sql: string }
      const row = [...state.databases.values()].find(({ uuid }) => uuid === id)
      if (!row) throw new Refusal(404, 7404, 'The database does not exist.')
      return runSql(row.database, sql)
    },
  ],
  [
    'GET',
    at('/r2/buckets/([^/]+)'),
    (state, _call, [, name = '']) => {
      if (!state.buckets.has(name)) throw new Refusal(404, 10_006, 'The specified bucket does not exist.')
      return { name }
    },
  ],
  [
    'POST',
    at('/r2/buckets'),
    (state, call) => {
      const { name } = readJson(call) as { name: string }
      if (state.buckets.has(name)) throw new Refusal(409, 10_004, 'The bucket exists.')
      state.buckets.add(name)
      return { name }
    },
  ],
  [
    'GET',
    at('/queues'),
    (state, { query }) =>
      new Listing(
        [...state.queues.values()]
          .filter(({ queue_name }) => !query.has('name') || query.getAll('name').includes(queue_name))
          .map(describeQueue),
      ),
  ],
  [
    'POST',
    at('/queues'),
    (state, call) => {
      const { queue_name: name } = readJson(call) as { queue_name: string }
      if (state.queues.has(name)) throw new Refusal(409, 11_009, 'The queue exists.')
      return describeQueue(addQueue(state, name))
    },
  ],
  ['POST', at('/queues/([^/]+)/consumers'), addConsumer],
  [
    'PUT',
    at('/queues/([^/]+)/consumers/([^/]+)'),
    (state, call, [, id, consumerId]) => {
      const consumer = findQueue(state, id).consumers.find(({ consumer_id }) => consumer_id === consumerId)
      if (!consumer) throw new Refusal(404, 11_001, 'Consumer not found.')
      const { settings } = readJson(call) as { settings: object }
      return Object.assign(consumer, { settings })
    },
  ],
]

function addConsumer(state: PlatformState, call: Call, [, id]: readonly string[]) {
  const queue = findQueue(state, id)
  if (queue.consumers.length > 0) throw new Refusal(400, 11_004, 'The queue has a consumer.')
  const body = readJson(call) as { script_name: string; dead_letter_queue?: string; settings: object }
  if (body.dead_letter_queue && !state.queues.has(body.dead_letter_queue))
    throw new Refusal(400, 100_127, 'The dead-letter queue does not exist.')
  getWorker(state, body.script_name)
  const consumer = {
    consumer_id: makeId(state),
    type: 'worker',
    script: body.script_name,
    settings: body.settings,
    ...(body.dead_letter_queue ? { dead_letter_queue: body.dead_letter_queue } : {}),
  }
  queue.consumers.push(consumer)
  return consumer
}

/** Runs statements as D1 does: all of them or none. */
function runSql(database: DatabaseSync, sql: string) {
  const isRead = /^\s*(select|pragma)\b/i.test(sql)
  if (isRead) return [{ success: true, results: database.prepare(sql).all(), meta: {} }]
  database.exec('begin')
  try {
    database.exec(sql)
    database.exec('commit')
  } catch (error) {
    database.exec('rollback')
    throw new Refusal(400, 7500, (error as Error).message)
  }
  return [{ success: true, results: [], meta: {} }]
}

export const routes: readonly Route[] = [
  ['GET', /^\/accounts$/, (state) => new Listing(state.accounts)],
  ['GET', /^\/memberships$/, (state) => new Listing(state.accounts.map((row) => ({ account: row })))],
  ...workerRoutes,
  ...addressRoutes,
  ...storageRoutes,
]
