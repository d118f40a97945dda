import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parse } from 'smol-toml'
import { consoleFolder, root } from '../paths.ts'
import { writePrivateFile } from '../private-file.ts'

type FileVariables = Record<string, string | number | boolean>

/** The part of wrangler.toml that differs between installations. The rest is copied as it stands. */
interface WranglerFile {
  name: string
  main: string
  account_id?: string
  routes?: unknown
  route?: unknown
  build?: unknown
  env?: Record<string, { vars?: FileVariables }>
  vars: FileVariables
  assets: { directory: string }
  d1_databases: { binding: string; database_name: string; database_id?: string; migrations_dir: string }[]
  r2_buckets: { binding: string; bucket_name: string }[]
  queues: {
    producers: { binding: string; queue: string }[]
    consumers: { queue: string; dead_letter_queue?: string }[]
  }
  ratelimits: { name: string; namespace_id: string; simple: { limit: number; period: number } }[]
  send_email?: { name: string }[]
}

/** One deployment of the service: a Worker with a database, a bucket, queues and secrets of its own. */
export interface Installation {
  environment: string
  /** The folder of its files on this machine. */
  folder: string
  /** The file that the script writes for Wrangler. */
  configFile: string
  secretsFile: string
  file: WranglerFile
  workerName: string
  databaseName: string
  bucketName: string
  queueNames: string[]
}

export const firstEnvironment = 'production'

/** Queue names end with the environment, and those of dead letters with `-dead`. */
const environmentForm = /^(?!dead)[a-z][a-z0-9-]{0,19}$/

const readWranglerFile = (): WranglerFile =>
  parse(readFileSync(join(root, 'wrangler.toml'), 'utf8')) as unknown as WranglerFile

/** Describes an installation. All names of another environment than production end with its name. */
export function describeInstallation(environment: string): Installation {
  if (!environmentForm.test(environment) || environment.endsWith('-'))
    throw new Error(
      `"${environment}" cannot be the name of an environment. Choose small letters, digits and hyphens, such as staging, at most 20, and not beginning with "dead".`,
    )
  const file = nameResources(readWranglerFile(), environment)
  const folder = resolve(process.env['DEPLOY_FOLDER'] || join(root, '.deploy'), environment)
  const [database] = file.d1_databases
  const [bucket] = file.r2_buckets
  if (!database || !bucket) throw new Error('wrangler.toml has no [[d1_databases]] or no [[r2_buckets]].')
  const { producers, consumers } = file.queues
  const queueNames = [...producers, ...consumers].map(({ queue }) => queue)
  const deadLetterQueues = consumers.flatMap(({ dead_letter_queue: queue }) => queue ?? [])
  return {
    environment,
    folder,
    configFile: join(folder, 'wrangler.json'),
    secretsFile: join(folder, 'secrets.json'),
    file,
    workerName: file.name,
    databaseName: database.database_name,
    bucketName: bucket.bucket_name,
    queueNames: [...new Set([...queueNames, ...deadLetterQueues])],
  }
}

/** Rate limits with the same id are shared by all Workers of an account. */
const buildNamespaceId = (environment: string, id: string): string =>
  String((createHash('sha256').update(`${environment}:${id}`).digest().readUInt32BE() % 2_000_000_000) + 100_000)

function nameResources(file: WranglerFile, environment: string): WranglerFile {
  if (environment === firstEnvironment) return file
  const name = (text: string) => `${text}-${environment}`
  const { routes: _routes, route: _route, ...rest } = file
  return {
    ...rest,
    name: name(file.name),
    d1_databases: file.d1_databases.map(({ database_id: _id, ...database }) => ({
      ...database,
      database_name: name(database.database_name),
    })),
    r2_buckets: file.r2_buckets.map((bucket) => ({ ...bucket, bucket_name: name(bucket.bucket_name) })),
    queues: {
      producers: file.queues.producers.map((producer) => ({ ...producer, queue: name(producer.queue) })),
      consumers: file.queues.consumers.map(({ dead_letter_queue: deadLetterQueue, ...consumer }) => ({
        ...consumer,
        queue: name(consumer.queue),
        ...(deadLetterQueue === undefined ? {} : { dead_letter_queue: name(deadLetterQueue) }),
      })),
    },
    ratelimits: file.ratelimits.map((limit) => ({
      ...limit,
      namespace_id: buildNamespaceId(environment, limit.namespace_id),
    })),
  }
}

interface Values {
  accountId: string
  databaseId: string
  variables: Record<string, string>
  /** True if the Worker answers at its address of workers.dev. */
  isOnWorkersDev: boolean
}

/** Writes the complete configuration of an installation for Wrangler, whose paths begin at the file. */
export async function writeConfiguration(installation: Installation, values: Values): Promise<void> {
  const { file, folder, configFile } = installation
  // The console is built before, and environments of Wrangler would not inherit the bindings.
  const { build: _build, env: _env, ...rest } = file
  const place = (path: string) => relative(folder, join(root, path))
  const [database, ...otherDatabases] = file.d1_databases
  const configuration = {
    ...rest,
    account_id: values.accountId,
    main: place(file.main),
    assets: { ...file.assets, directory: relative(folder, consoleFolder) },
    d1_databases: [
      { ...database, database_id: values.databaseId, migrations_dir: place(database?.migrations_dir ?? '') },
      ...otherDatabases,
    ],
    workers_dev: values.isOnWorkersDev,
    preview_urls: false,
    vars: values.variables,
  }
  await writePrivateFile(configFile, `${JSON.stringify(configuration, null, 2)}\n`)
}
