import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../paths.ts'
import type { Installation } from './configuration.ts'
import { type Platform, PlatformError } from './platform.ts'

interface Queue {
  queue_id: string
  queue_name: string
  consumers?: { script?: string; service?: string }[]
}

interface Binding {
  name: string
  type: string
  text?: string
  /** The database of a binding of D1. */
  id?: string
  database_id?: string
  bucket_name?: string
}

/** The parts of an installation that the platform has. */
export interface Survey {
  /** Null if the account has no address at workers.dev. */
  subdomain: string | null
  hasWorker: boolean
  /** The variables of the deployed Worker. */
  variables: Record<string, string>
  secretNames: string[]
  databaseId: string | null
  /** The names of the migrations that the database has. */
  appliedMigrations: string[]
  hasBucket: boolean
  /** The bucket that the Worker uses, where it is another one. */
  formerBucket: string | null
  missingQueues: string[]
  /** The hosts that lead to the Worker. */
  hosts: string[]
  /** True if the Worker answers at its address of workers.dev. */
  isOnWorkersDev: boolean
}

const listMigrationFiles = (): string[] =>
  readdirSync(join(root, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .toSorted()

/** Lists the migrations of a later version, which stay when an earlier one is deployed again. */
export const listLaterMigrations = ({ appliedMigrations }: Survey): string[] =>
  appliedMigrations.filter((name) => !listMigrationFiles().includes(name))

export const listPendingMigrations = ({ appliedMigrations }: Survey): string[] =>
  listMigrationFiles().filter((name) => !appliedMigrations.includes(name))

/** Reads what exists. It changes nothing. */
export async function surveyInstallation(
  platform: Platform,
  accountId: string,
  installation: Installation,
): Promise<Survey> {
  const account = `/accounts/${accountId}`
  const script = `${account}/workers/scripts/${installation.workerName}`
  const [subdomain, settings, database, bucket, queues, domains] = await Promise.all([
    platform.find<{ subdomain?: string }>(`${account}/workers/subdomain`),
    platform.find<{ bindings?: Binding[] }>(`${script}/settings`),
    surveyDatabase(platform, account, installation),
    findBucket(platform, `${account}/r2/buckets/${installation.bucketName}`),
    platform.list<Queue>(`${account}/queues?per_page=100`),
    platform.call<{ hostname: string; service: string }[]>(
      'GET',
      `${account}/workers/domains?service=${installation.workerName}`,
    ),
  ])
  const [secrets, workersDev] = settings
    ? await Promise.all([
        platform.call<{ name: string }[]>('GET', `${script}/secrets`),
        platform.find<{ enabled: boolean }>(`${script}/subdomain`),
      ])
    : [[], null]
  refuseQueuesOfOthers(queues, installation)
  const bindings = settings?.bindings ?? []
  await refuseOtherWorker({ platform, account, installation }, bindings, database.databaseId)
  const names = queues.map((queue) => queue.queue_name)
  return {
    subdomain: subdomain?.subdomain ?? null,
    hasWorker: settings !== null,
    variables: readVariables(bindings),
    secretNames: secrets.map(({ name }) => name),
    ...database,
    hasBucket: bucket,
    formerBucket: findFormerBucket(bindings, installation),
    missingQueues: installation.queueNames.filter((name) => !names.includes(name)),
    hosts: domains.filter(({ service }) => service === installation.workerName).map(({ hostname }) => hostname),
    isOnWorkersDev: workersDev?.enabled ?? false,
  }
}

const readVariables = (bindings: readonly Binding[]): Record<string, string> =>
  Object.fromEntries(bindings.filter(({ type }) => type === 'plain_text').map(({ name, text }) => [name, text ?? '']))

async function findBucket(platform: Platform, path: string): Promise<boolean> {
  try {
    return (await platform.find(path)) !== null
  } catch (error) {
    const disabledCode = 10_042
    if (error instanceof PlatformError && error.codes.includes(disabledCode))
      throw new Error(
        'R2 is not switched on for this account. Nothing was changed. Open "R2 Object Storage" in the dashboard, switch it on, and run the command again.',
        { cause: error },
      )
    throw error
  }
}

/** A queue has one consumer, so one that another Worker consumes cannot be used. */
function refuseQueuesOfOthers(queues: readonly Queue[], { queueNames, workerName }: Installation): void {
  const others = queues
    .filter((queue) => queueNames.includes(queue.queue_name))
    .flatMap((queue) =>
      (queue.consumers ?? [])
        .map(({ script, service }) => script ?? service)
        .filter((name) => name !== undefined && name !== workerName)
        .map((name) => `The queue ${queue.queue_name} belongs to the Worker ${name}.`),
    )
  if (others.length > 0)
    throw new Error(
      `${others.join('\n')}\nNothing was changed. Names of queues are shared by all Workers of an account. Choose an environment, which gives all names an ending of its own: npm run deploy -- --env events`,
    )
}

/** Refuses a Worker of something else, and one whose data would be left behind in another database. */
async function refuseOtherWorker(
  { platform, account, installation }: { platform: Platform; account: string; installation: Installation },
  bindings: readonly Binding[],
  databaseId: string | null,
): Promise<void> {
  const { workerName, databaseName, file } = installation
  // A Worker to which somebody has only added secrets has no other bindings.
  if (bindings.every(({ type }) => type === 'secret_text')) return
  const [expected] = file.d1_databases
  const database = bindings.find(({ type, name }) => type === 'd1' && name === expected?.binding)
  if (!database)
    throw new Error(
      `The Worker ${workerName} is something else: it has no binding ${expected?.binding} of a database. Nothing was changed. Rename or delete it, or choose an environment with names of its own: npm run deploy -- --env events`,
    )
  const usedId = database.id ?? database.database_id
  if (usedId === undefined || usedId === databaseId || expected?.database_id) return
  const used = await platform.find<{ name: string }>(`${account}/d1/database/${usedId}`)
  if (used)
    throw new Error(
      `The Worker ${workerName} uses the database ${used.name} and not ${databaseName}. Nothing was changed. To go on with ${used.name}, write it as database_name into wrangler.toml. To change over, write the database_id of ${databaseName} there.`,
    )
}

function findFormerBucket(bindings: readonly Binding[], { bucketName, file }: Installation): string | null {
  const binding = bindings.find(({ type, name }) => type === 'r2_bucket' && name === file.r2_buckets[0]?.binding)
  const name = binding?.bucket_name ?? bucketName
  return name === bucketName ? null : name
}

interface Rows {
  results: Record<string, unknown>[]
}

async function surveyDatabase(
  platform: Platform,
  account: string,
  { databaseName, file }: Installation,
): Promise<Pick<Survey, 'databaseId' | 'appliedMigrations'>> {
  const databases = await platform.list<{ uuid: string; name: string }>(
    `${account}/d1/database?per_page=100&name=${encodeURIComponent(databaseName)}`,
  )
  const databaseId = file.d1_databases[0]?.database_id ?? databases.find(({ name }) => name === databaseName)?.uuid
  if (!databaseId) return { databaseId: null, appliedMigrations: [] }
  const read = async (sql: string): Promise<string[]> => {
    const [rows] = await platform.call<Rows[]>('POST', `${account}/d1/database/${databaseId}/query`, { sql })
    return rows?.results.map(({ name }) => String(name)) ?? []
  }
  const tables = await read(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite%' and name not like '\\_cf%' escape '\\'",
  )
  const appliedMigrations = tables.includes('d1_migrations')
    ? await read('select name from d1_migrations order by id')
    : []
  refuseOtherDatabase(databaseName, tables, appliedMigrations)
  return { databaseId, appliedMigrations }
}

/** True if a later version migrated the database. The version before runs on its tables. */
const isLaterVersion = (applied: readonly string[], files: readonly string[]): boolean =>
  files.every((name) => applied.includes(name)) &&
  applied.every((name) => files.includes(name) || name > (files.at(-1) ?? ''))

function refuseOtherDatabase(name: string, tables: readonly string[], applied: readonly string[]): void {
  const files = listMigrationFiles()
  const others = isLaterVersion(applied, files) ? [] : applied.filter((migration) => !files.includes(migration))
  const advice = 'Nothing was changed.'
  if (others.length > 0)
    throw new Error(
      `The database ${name} has migrations that are not here: ${others.slice(0, 3).join(', ')}. ${advice} It belongs to something else, or to a version of the service from which this one cannot be reached. Choose an environment with names of its own: npm run deploy -- --env events`,
    )
  if (applied.length === 0 && tables.some((table) => table !== 'd1_migrations'))
    throw new Error(
      `The database ${name} has tables of something else, such as ${tables.slice(0, 3).join(', ')}. ${advice} Rename or delete it, or choose an environment with names of its own: npm run deploy -- --env events`,
    )
}
