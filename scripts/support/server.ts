import { mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { lockFolder } from './folder-lock.ts'
import { root } from './paths.ts'
import { reservePort, type Ending, otherSchemaCode, type Running, startNode } from './processes.ts'
import { developmentTexts, pickSettings } from './settings.ts'

/** The default token of the superuser, for local servers only. */
export const developmentRootToken = developmentTexts.ROOT_TOKEN

export interface Server {
  url: string
  rootToken: string
  /** Settles when the server ends, by itself or by `stop`. */
  ended: Promise<Ending>
  stop: () => Promise<void>
}

interface Options {
  /** 0 takes any free port. */
  port: number
  /** The folder of the database and of everything else that a later start needs. */
  stateDir: string
  /** The environment, from which the settings are taken. */
  env: Readonly<Record<string, string | undefined>>
  /** The Worker's program, when it differs from the one in wrangler.toml. */
  program?: string
  /** True if the console is built first, unless it is built already. */
  buildsConsole?: boolean
  /** True for a server for others: in production, without defaults, and with nothing that is for development. */
  isProduction?: boolean
  /** False turns off the cron trigger, so that a bench measures only the work that it starts. */
  hasCron?: boolean
  /** Ends the server, even while it is starting. */
  signal?: AbortSignal
  /** Called with the output of the server once it is ready. */
  onOutput?: (text: string) => unknown
}

const readyWithinMs = 90_000
const minuteMs = 60_000
const devWorkerProgram = join(import.meta.dirname, 'dev-worker.ts')
/** Runs the cron trigger of each minute. */
export const everyMinute = '/cdn-cgi/local/scheduled?cron=*+*+*+*+*'

/** Starts the service on this machine and waits until it is ready. No other server can use its folder meanwhile. */
export async function startServer(options: Options): Promise<Server> {
  const port = await reservePort(options.port)
  const folder = resolve(root, options.stateDir)
  const release = lockFolder(folder)
  try {
    return await serve(options, port, folder, release)
  } catch (error) {
    release()
    throw error
  }
}

/** Migrates the local database and starts the Worker. `release` is called once all its processes have ended. */
async function serve(options: Options, port: number, folder: string, release: () => void): Promise<Server> {
  const { isProduction = false } = options
  const settings: Record<string, string> = {
    ...(isProduction ? {} : { ...developmentTexts, PUBLIC_URL: `http://127.0.0.1:${port}` }),
    ...pickSettings(options.env),
    ENVIRONMENT: isProduction ? 'production' : 'development',
  }
  const rootToken = settings['ROOT_TOKEN'] ?? ''
  let isReady = false
  const program = options.program ? ['--program', resolve(root, options.program)] : []
  const flags = [...(options.buildsConsole ? ['--build-console'] : []), ...(isProduction ? ['--production'] : [])]
  const running = startNode([devWorkerProgram, '--persist-to', folder, '--port', String(port), ...program, ...flags], {
    env: { ...buildSettings(folder), WORKER_VARIABLES: JSON.stringify(settings) },
    signal: options.signal,
    onOutput: (text) => isReady && options.onOutput?.(text),
  })
  const url = `http://127.0.0.1:${port}`
  let health: Health
  try {
    health = await waitUntilReady(url, running, options)
    options.signal?.throwIfAborted()
  } catch (error) {
    await running.stop()
    throw error
  }
  isReady = true
  const runCron = () => void fetch(url + everyMinute).catch(() => undefined)
  // In production the trigger is not open to requests, so the process of the simulator runs it.
  const hasCron = options.hasCron !== false && !isProduction
  if (hasCron && health.status === 'late') runCron()
  const clock = hasCron ? setInterval(runCron, minuteMs) : undefined
  const ended = running.ended.then(async (ending) => {
    clearInterval(clock)
    await running.stop()
    release()
    return ending
  })
  return { url, rootToken, ended, stop: () => running.stop().then(() => ended.then(() => undefined)) }
}

/**
 * Settings that keep the simulator from calling Cloudflare, and keep its files inside the state folder. A process that was
 * killed leaves its temporary files, which the next one removes.
 */
function buildSettings(folder: string) {
  const temporary = resolve(folder, 'tmp')
  rmSync(temporary, { recursive: true, force: true })
  mkdirSync(temporary, { mode: 0o700 })
  return {
    NO_COLOR: '1',
    FORCE_COLOR: '0',
    TMPDIR: temporary,
    XDG_CONFIG_HOME: resolve(folder, 'config'),
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_LOG_PATH: resolve(folder, 'logs'),
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    NODE_COMPILE_CACHE: resolve(folder, 'compile'),
  }
}

const describeOtherSchema = ({ stateDir, isProduction }: Options): string =>
  isProduction
    ? `${stateDir} has a database that another version has made, with migrations that this version does not have. Nothing was changed. Start the version that made it, or restore a backup of this version.`
    : `${stateDir} has a database of another schema. Remove the folder ${stateDir} and start again.`

interface Health {
  status: string
  database: string
}

/** Reads what /healthz says. Null: the server does not answer yet. */
const readHealth = (url: string): Promise<Health | null> =>
  fetch(`${url}/healthz`).then(
    (response) => response.json() as Promise<Health>,
    () => null,
  )

/**
 * Waits until the database is reached. The sweeps of a server that was stopped for a while are late until the cron trigger
 * runs, which needs a server that is ready.
 */
async function waitUntilReady(url: string, running: Running, options: Options): Promise<Health> {
  let ending: Ending | undefined
  void running.ended.then((value) => (ending = value))
  for (const deadline = Date.now() + readyWithinMs; Date.now() < deadline; await wait(50)) {
    if (ending?.code === otherSchemaCode) throw new Error(describeOtherSchema(options))
    if (ending) throw new Error(`The server ended before it was ready (exit code ${ending.code}).\n${ending.output}`)
    const health = await readHealth(url)
    if (health?.database === 'reached') return health
  }
  throw new Error(`The server was not ready within ${readyWithinMs / 1000} seconds.`)
}
